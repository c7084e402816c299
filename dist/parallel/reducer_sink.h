// What hands a parameter's gradients to the reducer.
#pragma once

#include <cstddef>
#include <limits>
#include <utility>

#include <tessera/core/autograd/backward_counts.h>
#include <tessera/core/autograd/leaf.h>
#include <tessera/dist/parallel/gradient_reducer.h>

namespace tessera::dist {

/// Whether the slot's parameter wants gradients.
[[nodiscard]] inline bool is_trained(const nn::Slot& slot) {
  return slot.value.defined() && slot.value.requires_grad();
}

/// The sink of one parameter's leaf. Without an index in the reducer it drops what comes: of a
/// parameter that was frozen or left the model after its forward. One that came to the model after
/// the ranks agreed on it gets its index with the first gradient of the next backward.
class ReducerSink final : public GradientSink, public CountedSink {
 public:
  static constexpr std::size_t kNoIndex = std::numeric_limits<std::size_t>::max();

  explicit ReducerSink(GradientReducer& reducer) : reducer_(reducer) {}

  [[nodiscard]] bool belongs_to(const GradientReducer& reducer) const {
    return &reducer_ == &reducer;
  }
  [[nodiscard]] bool is_in_step() const { return reducer_.is_in_step(); }
  void set_index(std::size_t index) { index_ = index; }

  Tensor destination(LeafNode&) override {
    return takes_part() ? reducer_.destination(index_) : Tensor();
  }
  /// No part of a backward, whoever calls it.
  Tensor early_destination(LeafNode&) override {
    return index_ != kNoIndex ? reducer_.early_destination(index_) : Tensor();
  }
  void take_dense(LeafNode&, Tensor dense) override {
    if (takes_part()) {
      reducer_.take_dense(index_, std::move(dense));
    }
  }
  void complete(LeafNode&, SparseGradient rows) override {
    if (takes_part()) {
      reducer_.complete(index_, std::move(rows));
    }
  }
  [[nodiscard]] std::uint64_t sum_number() const override { return reducer_.number(); }
  double take_counts(const PassCounts& counts) override { return reducer_.take_counts(counts); }
  [[nodiscard]] GradientScale scale_of_step() const override {
    return reducer_.loss_counts().latest();
  }

 private:
  /// With the first gradient of a step the reducer may follow changes of the model.
  bool takes_part() {
    reducer_.begin_backward();
    return index_ != kNoIndex;
  }

  GradientReducer& reducer_;  // takes its sinks with it
  std::size_t index_ = kNoIndex;
};

}  // namespace tessera::dist
