#include <tessera/core/ops/dropout.h>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/dropout_mask.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {

void Dropout::infer(Infer& c, const Attrs& attrs) {
  check_floating("dropout", "x", c.input().dtype());
  check_probability("dropout", "p", attrs.p);
  infer_elementwise(c, 1, c.input().dtype());
}

void Dropout::reference(Kernel& k, const Attrs& attrs) {
  DropoutMask mask(attrs.p, attrs.draw.key);
  const TensorImpl& x = k.input();
  if (x.dtype != DType::f64) {
    mask.scale = static_cast<float>(mask.scale);  // products are then those of f32 arithmetic
  }
  TensorImpl& out = k.output();
  const DrawnNumbers number_of(attrs.draw, x);
  StridedCounter<2> at(x.shape, {x.strides, out.strides});
  for (std::int64_t n = x.numel(); n > 0; --n, at.next()) {
    const auto [sample, offset] = number_of(at.index());
    const double factor = mask.factor(sample, offset);
    const auto value = load_as<double>(x, at.offsets[0]);
    store_as(out, at.offsets[1], factor == 0 ? 0.0 : value * factor);
  }
}

void Dropout::vjp(Vjp& v, const Attrs& attrs) {
  v.set(0, call<Dropout>({v.gradient()}, attrs));
}

Tensor dropout(const Tensor& x, double p) {
  check_probability("dropout", "p", p);
  if (p == 0) {
    return x;
  }
  const Tensor each = for_each_drawing(x);
  return call<Dropout>({each}, {.p = p, .draw = new_draw(each)});
}

Tensor dropout_factors(const Tensor& x, const Shape& shape, double p) {
  const Tensor whole = ones(shape, {.dtype = x.dtype(), .device = x.device()});
  whole.get().set_microbatches(x.microbatches());
  return dropout(whole, p);
}

const Register<Dropout> register_dropout;

}  // namespace tessera
