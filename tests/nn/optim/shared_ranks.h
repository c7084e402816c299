// Ranks as threads that share parameters: the smallest thing that can be called ownership.
#pragma once

#include <algorithm>
#include <atomic>
#include <barrier>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <tessera/core/base/context.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/module.h>
#include <tessera/nn/optim/flat_range.h>
#include <tessera/nn/ownership.h>

namespace tessera::optim {

/// A tensor of its own on the memory of `x`, for another thread.
inline Tensor on_memory_of(const Tensor& x) {
  return from_memory(x.raw_data(), x.shape(), x.dtype(), std::make_shared<Tensor>(x));
}

/// What the ranks of one test share.
struct SharedRanks {
  explicit SharedRanks(int count) : size(count), barrier(count) {}
  int size;
  std::barrier<> barrier;
  std::mutex mutex;
  std::vector<double> sums;
  std::atomic<std::int64_t> published{0};                ///< elements, by all ranks
  std::map<std::pair<std::string, int>, Tensor> states;  ///< by parameter and number
};

/// Every rank holds a handle on the same parameters and owns a run of each, cut at norm blocks; one
/// that stays whole belongs to a rank that its name chooses.
class SharedRank : public nn::Ownership {
 public:
  SharedRank(SharedRanks& ranks, int rank) : ranks_(ranks), rank_(rank) {}

  nn::ElementRange own_range(const nn::Slot& slot) const override {
    const std::int64_t numel = numel_of(slot.shape);
    if (whole_.contains(slot.name)) {
      const bool mine = slot.name.front() % ranks_.size == rank_;
      return {0, mine ? numel : 0};
    }
    const std::int64_t blocks = (numel + nn::kNormBlock - 1) / nn::kNormBlock;
    const auto border = [&](int rank) {
      return std::min(numel, blocks * rank / ranks_.size * nn::kNormBlock);
    };
    return {border(rank_), border(rank_ + 1) - border(rank_)};
  }
  void assign_owner(const nn::Slot& slot) override { whole_.insert(slot.name); }
  Tensor make_state(const nn::Slot& slot, const Shape& shape, const Tensor& values) override {
    const std::lock_guard lock(ranks_.mutex);
    Tensor& state = ranks_.states[{slot.name, made_[slot.name]++}];
    if (!state.defined()) {
      state = zeros(shape, {.dtype = slot.dtype});
    }
    if (values.defined()) {
      flat_range(state, own_range(slot)).copy_(flat_range(values, own_range(slot)));
    }
    return on_memory_of(state);
  }
  void all_reduce_numbers(std::span<double> values) override {
    {
      const std::lock_guard lock(ranks_.mutex);
      ranks_.sums.resize(values.size(), 0.0);
      for (std::size_t i = 0; i < values.size(); ++i) {
        ranks_.sums[i] += values[i];
      }
    }
    ranks_.barrier.arrive_and_wait();
    std::copy_n(ranks_.sums.begin(), values.size(), values.begin());
    ranks_.barrier.arrive_and_wait();
    if (rank_ == 0) {
      ranks_.sums.clear();
    }
    ranks_.barrier.arrive_and_wait();
  }
  void gather_states() override {}
  void all_gather_parameters(const Tensor& updated) override {
    ranks_.published += updated.numel();
  }
  void wait_for_parameters() override { ranks_.barrier.arrive_and_wait(); }
  void begin_comparison(std::uint64_t) override {}
  void end_comparison(const std::function<nn::Facts()>&) override {}
  std::vector<nn::SlotPtr> buffers() const override { return {}; }
  void all_reduce_bytes(std::span<std::uint8_t>) override {}

 private:
  SharedRanks& ranks_;
  int rank_;
  std::set<std::string> whole_;
  std::map<std::string, int> made_;
};

/// Runs `body(rank)` on `count` threads, each with a context of its own.
inline void on_ranks(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] {
      const ContextScope scope(std::make_shared<Context>());
      body(rank);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace tessera::optim
