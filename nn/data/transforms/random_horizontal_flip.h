// Pictures in a mirror.
#pragma once

#include <tessera/core/base/error.h>
#include <tessera/core/ops/flip.h>
#include <tessera/core/tensor/tensor.h>
#include <tessera/nn/data/random.h>
#include <tessera/nn/data/transforms/picture.h>

namespace tessera::data {

/// Left and right change places with probability `p`.
class RandomHorizontalFlip {
 public:
  /// Throws ValueError for a p outside [0, 1].
  explicit RandomHorizontalFlip(double p = 0.5) : p_(p) {
    check<ValueError>(p >= 0 && p <= 1, "RandomHorizontalFlip: p is no probability; got ", p,
                      ", expected 0 to 1");
  }
  [[nodiscard]] Tensor operator()(const Tensor& x, Random& random) const {
    check_picture("RandomHorizontalFlip", x);
    return random.uniform() < p_ ? flip(x, {2}) : x;
  }

 private:
  double p_;
};

}  // namespace tessera::data
