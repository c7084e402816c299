// One vector for each bag of ids.
#pragma once

#include <array>
#include <string_view>
#include <tuple>

#include <tessera/core/ops/embedding_bag.h>
#include <tessera/nn/module.h>

namespace tessera {

/// The names of the enumerators, in order.
[[nodiscard]] constexpr auto names_of(BagMode /*of_this_type*/) {
  return std::array<std::string_view, 3>{"sum", "mean", "max"};
}

}  // namespace tessera

namespace tessera::nn {

struct EmbeddingBagOptions {
  BagMode mode = BagMode::mean;       ///< how the rows of a bag become one
  bool include_last_offset = false;   ///< the last offset is where the last bag ends
  Initializer weight_init = nullptr;  ///< without one standard normal, as in PyTorch
  /// The id that does not count in its bag; its row begins as 0, unless weight_init is given. It
  /// may count from the end.
  std::optional<std::int64_t> padding_idx = {};

  static void each(auto& o, const auto& f) {
    visit_fields(f, "mode", o.mode, "include_last_offset", o.include_last_offset, "padding_idx",
                 o.padding_idx);
  }
};

/// ids (bags, length), or (count) with the offsets (bags) at which bags begin -> (bags, width). See
/// core/ops/embedding_bag.h.
class EmbeddingBag : public Module {
 public:
  /// Throws ValueError for sizes below 1 and a padding_idx outside [-count, count).
  EmbeddingBag(std::int64_t count, std::int64_t width, const EmbeddingBagOptions& options = {});
  [[nodiscard]] Tensor forward(const Tensor& ids, const Tensor& offsets = {},
                               const Tensor& per_sample_weights = {}) const;
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const {
    const Shape& sizes = weight.declared_shape();
    const std::int64_t padding = options_.padding_idx;
    const EmbeddingBagOptions options{
        .mode = options_.mode,
        .include_last_offset = options_.include_last_offset,
        .padding_idx = padding < 0 ? std::nullopt : std::optional(padding)};
    return std::tuple(sizes[0], sizes[1], options);
  }
  [[nodiscard]] std::string extra_repr() const override;

  Parameter weight;  ///< (count, width)

 private:
  BagAttrs options_;
};

}  // namespace tessera::nn
