#include <tessera/core/ops/alpha_dropout.h>

#include <cmath>

#include <tessera/core/ops/add.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/dropout.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/where.h>

namespace tessera {

Tensor alpha_dropout(const Tensor& x, double p) {
  if (p == 0 || p == 1) {
    return p == 0 ? x : x * 0.0;
  }
  constexpr double kLimit =
      1.7580993408473766;  // scale times alpha of SELU, which is -kLimit there
  const double scale = 1 / std::sqrt((kLimit * kLimit * p + 1) * (1 - p));
  const double shift = scale * kLimit * p;
  const Tensor kept = dropout_factors(x, x.shape(), p) > 0;
  return where(kept, x * scale + shift, shift - scale * kLimit);
}

}  // namespace tessera
