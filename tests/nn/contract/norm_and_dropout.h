// A module whose calls draw and write to buffers, and what it is called with.
#pragma once

#include <tessera/core/tensor/factories.h>
#include <tessera/nn/layers/batch_norm.h>
#include <tessera/nn/layers/dropout.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/module.h>

namespace tessera::nn::contract {

/// Batch norm and dropout between layers with weights.
struct NormAndDropout : Module {
  explicit NormAndDropout(std::int64_t width = 4, double probability = 0.5)
      : hidden(this, "hidden", 3, width),
        norm(this, "norm", width),
        dropout(this, "dropout", probability),
        out(this, "out", width, 1) {}
  Child<Linear> hidden;
  Child<BatchNorm1d> norm;
  Child<Dropout> dropout;
  Child<Linear> out;
  Tensor forward(const Tensor& x) const { return out(dropout(norm(hidden(x)))); }
};

/// Four samples.
inline Tensor batch() {
  return from_values<float>({1, 2, 3, -1, 0.5, 2, 4, -2, 1, 0, 1, -3}, {4, 3});
}

}  // namespace tessera::nn::contract
