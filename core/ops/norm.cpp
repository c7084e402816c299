#include <tessera/core/ops/norm.h>

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

/// `x` with 1 in place of 0, for what is left out there: a nan would live on in its own gradient.
Tensor without_zeros(const Tensor& x) {
  return where(eq(x, 0), 1, x);
}

/// x / |x|, and 0 at 0.
Tensor direction(const Tensor& x, const Tensor& size) {
  return is_complex(x.dtype()) ? where(eq(size, 0), 0, x / without_zeros(size)) : sign(x);
}

/// d norm / d |x|, where `norm` has been repeated to the shape of x, but not for p = 2.
Tensor slope(const Tensor& size, const Tensor& norm, const Norm::Attrs& attrs) {
  if (attrs.p == 0) {
    return size * 0;
  }
  if (attrs.p == kInfinity) {
    const DType counting = promote(size.dtype(), DType::f32);  // f16 ends at 65504
    const Tensor largest = cast(eq(size, norm), counting);
    const Dims all = attrs.reduce.dims;
    return largest / sum(largest, all, true);
  }
  if (attrs.p == 1) {
    return cast(ne(size, 0), size.dtype());
  }
  const Tensor ratio = without_zeros(size) / without_zeros(norm);
  return where(eq(size, 0), 0, pow(ratio, attrs.p - 1));
}

/// d norm / d x. For p = 2 it is smooth where some element is not 0, so 0 is no special case.
Tensor norm_gradient(const Tensor& x, const Tensor& norm, const Norm::Attrs& attrs) {
  if (attrs.p == 2) {
    return where(eq(norm, 0), 0, x / without_zeros(norm));
  }
  const Tensor size = abs(x);
  return direction(x, size) * slope(size, norm, attrs);
}

}  // namespace

void Norm::infer(Infer& c, const Attrs& attrs) {
  const DType dtype = c.input().dtype();
  check_differentiable("norm", "x", dtype);
  check_at_least("norm", "p", attrs.p, 0);
  infer_reduction(c, attrs.reduce, real_of(dtype));
  if (attrs.p == kInfinity) {
    check_not_empty(c);
  }
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
  const TensorMeta& meta = v.input_meta();
  const Tensor y = expand_reduced(v.output(), attrs.reduce, meta);
  const Tensor g = expand_reduced(v.gradient(), attrs.reduce, meta);
  v.set(0, gradient_like(g * norm_gradient(v.input(), y, attrs), meta));
}

ShardRule Norm::shard(const Infer& c, const Attrs& attrs) {
  return reduction_rule(c, attrs.reduce, ShardRule::Partial::none);
}

Tensor norm(const Tensor& x, double p, const Dims& dims, bool keepdim) {
  return call<Norm>({x}, {{dims, keepdim}, p});
}

const Register<Norm> register_norm;

}  // namespace tessera
