#include <tessera/core/ops/random_like.h>

#include <cmath>

#include <tessera/core/base/normal.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {
namespace {

/// Uniform numbers in [0, 1) must not be rounded to 1: those of 16 bits are cut off instead.
double cut_off(double uniform, DType dtype) {
  const int digits = dtype == DType::bf16 ? 8 : 11;
  const bool narrow = dtype == DType::bf16 || dtype == DType::f16;
  return narrow ? std::ldexp(std::floor(std::ldexp(uniform, digits)), -digits) : uniform;
}

double drawn(const RandomLike::Attrs& attrs, const DrawnNumbers::Index& number, DType dtype) {
  const RandomStream stream{.key = mix(attrs.draw.key, static_cast<std::uint64_t>(number.sample))};
  const auto at = static_cast<std::uint64_t>(number.offset);
  return attrs.distribution == RandomLike::Distribution::normal
             ? to_normal(stream.block(at))
             : cut_off(double{to_uniform(stream.word(at))}, dtype);
}

Tensor random_like(const Tensor& x, RandomLike::Distribution distribution) {
  const Tensor each = for_each_drawing(x);
  return call<RandomLike>({each}, {.distribution = distribution, .draw = new_draw(each)});
}

}  // namespace

void RandomLike::infer(Infer& c, const Attrs&) {
  check_floating("random_like", "x", c.input().dtype());
  infer_elementwise(c, 1, c.input().dtype());
}

void RandomLike::reference(Kernel& k, const Attrs& attrs) {
  TensorImpl& out = k.output();
  const DrawnNumbers number_of(attrs.draw, k.input());
  StridedCounter<1> at(out.shape, {out.strides});
  for (std::int64_t n = out.numel(); n > 0; --n, at.next()) {
    store_as(out, at.offsets[0], drawn(attrs, number_of(at.index()), out.dtype));
  }
}

Tensor rand_like(const Tensor& x) {
  return random_like(x, RandomLike::Distribution::uniform);
}
Tensor randn_like(const Tensor& x) {
  return random_like(x, RandomLike::Distribution::normal);
}
Tensor rand_like(const Tensor& x, const Shape& shape) {
  return rand_like(empty_like(x, shape));
}
Tensor randn_like(const Tensor& x, const Shape& shape) {
  return randn_like(empty_like(x, shape));
}

Tensor bernoulli(const Tensor& p) {
  check_floating("bernoulli", "p", p.dtype());
  return cast(rand_like(cast(p.detach(), DType::f32)) < p.detach(), p.dtype());
}

const Register<RandomLike> register_random_like;

}  // namespace tessera
