#include <tessera/core/ops/norm.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <tessera/core/ops/abs.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/pow.h>
#include <tessera/core/ops/sign.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/where.h>

namespace tessera {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double join(double sum, double size, double p) {
  if (p == 0) {
    return sum + (size != 0 ? 1 : 0);
  }
  if (p == kInfinity) {
    return std::isnan(size) || size > sum ? size : sum;
  }
  return sum + (p == 2 ? size * size : std::pow(size, p));
}

double finish(double sum, double p) {
  if (p == 0 || p == kInfinity) {
    return sum;
  }
  return p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p);
}

/// x / |x|, and 0 at 0.
Tensor direction(const Tensor& x, const Tensor& size) {
  return is_complex(x.dtype()) ? where(eq(size, 0), 0, x / size) : sign(x);
}

/// d norm / d |x|, where `norm` has been repeated to the shape of x.
Tensor slope(const Tensor& size, const Tensor& norm, const Norm::Attrs& attrs) {
  if (attrs.p == 0) {
    return size * 0;
  }
  if (attrs.p == kInfinity) {
    const Tensor largest = cast(eq(size, norm), size.dtype());
    const Dims all = attrs.reduce.dims;
    return largest / sum(largest, all, true);
  }
  const Tensor safe = where(eq(norm, 0), 1, norm);
  Tensor ratio = where(eq(size, 0), 0, size / safe);
  if (attrs.p == 2) {
    return ratio;
  }
  return attrs.p == 1 ? cast(ne(size, 0), size.dtype()) : pow(ratio, attrs.p - 1);
}

}  // namespace

void Norm::infer(Infer& c, const Attrs& attrs) {
  const DType dtype = c.input().dtype();
  check_differentiable("norm", "x", dtype);
  check_at_least("norm", "p", attrs.p, 0);
  infer_reduction(c, attrs.reduce, real_of(dtype));
}

void Norm::reference(Kernel& k, const Attrs& attrs) {
  reduce_elements(k, attrs.reduce, [&]<Continuous T>(std::span<const T> values) {
    double sum = 0;
    for (const T value : values) {
      sum = join(sum, std::abs(value), attrs.p);
    }
    return finish(sum, attrs.p);
  });
}

void Norm::vjp(Vjp& v, const Attrs& attrs) {
  if (v.needs(0)) {
    const Tensor x = v.input();
    const TensorMeta& meta = v.input_meta();
    const Tensor size = abs(x);
    const Tensor y = expand_reduced(v.output(), attrs.reduce, meta);
    const Tensor g = expand_reduced(v.gradient(), attrs.reduce, meta);
    v.set(0, gradient_like(g * direction(x, size) * slope(size, y, attrs), meta));
  }
}

ShardRule Norm::shard(const Infer& c, const Attrs& attrs) {
  return reduction_rule(c, attrs.reduce, ShardRule::Reduction::none);
}

Tensor norm(const Tensor& x, double p, const Dims& dims, bool keepdim) {
  return call<Norm>({x}, {{dims, keepdim}, p});
}

namespace {
const Register<Norm> register_norm;
}

}  // namespace tessera
