// Vectors for ids.
#pragma once

#include <tessera/nn/module.h>

namespace tessera::nn {

struct EmbeddingOptions {
  Initializer weight_init = nullptr;  ///< without one standard normal, as in PyTorch
};

/// ids (...) of any integer dtype -> rows of the weight (..., width). Throws InvalidArgument for an
/// id outside [0, count).
class Embedding : public Module {
 public:
  Embedding(std::int64_t count, std::int64_t width, const EmbeddingOptions& options = {});
  [[nodiscard]] Tensor forward(const Tensor& ids) const;
  [[nodiscard]] std::string extra_repr() const override;

  Parameter weight;  ///< (count, width)
};

}  // namespace tessera::nn
