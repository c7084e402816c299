// Vectors for ids.
#pragma once

#include <optional>
#include <tuple>

#include <tessera/nn/module.h>

namespace tessera::nn {

struct EmbeddingOptions {
  Initializer weight_init = nullptr;  ///< without one standard normal, as in PyTorch
  /// The id whose row begins as 0, unless weight_init is given, and gets no gradient; it may count
  /// from the end.
  std::optional<std::int64_t> padding_idx = {};

  static void each(auto& options, const auto& f) { f("padding_idx", options.padding_idx); }
};

/// ids (...) of any integer dtype -> rows of the weight (..., width). Throws InvalidArgument for an
/// id outside [0, count).
class Embedding : public Module {
 public:
  /// Throws ValueError for sizes below 1 and a padding_idx outside [-count, count).
  Embedding(std::int64_t count, std::int64_t width, const EmbeddingOptions& options = {});
  [[nodiscard]] Tensor forward(const Tensor& ids) const;
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const {
    const Shape& sizes = weight.declared_shape();
    return std::tuple(sizes[0], sizes[1], EmbeddingOptions{.padding_idx = padding_idx_});
  }
  [[nodiscard]] std::string extra_repr() const override;

  Parameter weight;  ///< (count, width)

 private:
  std::optional<std::int64_t> padding_idx_;
};

}  // namespace tessera::nn
