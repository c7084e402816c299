// Pictures in a mirror.
#pragma once

#include <tessera/core/tensor/tensor.h>
#include <tessera/nn/data/random.h>

namespace tessera::data {

/// Left and right change places with probability `p`.
class RandomHorizontalFlip {
 public:
  /// Throws ValueError for a p outside [0, 1].
  explicit RandomHorizontalFlip(double p = 0.5);
  [[nodiscard]] Tensor operator()(const Tensor& x, Random& random) const;

 private:
  double p_;
};

}  // namespace tessera::data
