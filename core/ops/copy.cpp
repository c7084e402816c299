#include <tessera/core/ops/copy.h>

#include <tessera/core/dispatch/split_plan.h>
#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/ops/support/in_place.h>

namespace tessera {

void Copy::infer(Infer& c, const Attrs&) {
  const Tensor& x = c.input(0);
  check_borders("copy", x, c.input(1));
  infer_elementwise(c, 2, x.dtype());
  check(c.outputs()[0].shape == x.shape(), "copy: the source does not broadcast; got ",
        c.input(1).shape(), ", expected ", x.shape());
}

void Copy::reference(Kernel& k, const Attrs&) {
  const TensorImpl& from = k.input(1);
  TensorImpl& to = k.output();
  StridedCounter<2> at(to.shape, {broadcast_strides(from, to.shape), to.strides});
  visit_dtype(from.dtype, [&]<class From>() {
    visit_dtype(to.dtype, [&]<class To>() {
      for (std::int64_t n = to.numel(); n > 0; --n, at.next()) {
        to.data<To>()[at.offsets[1]] = convert<To>(from.data<From>()[at.offsets[0]]);
      }
    });
  });
}

// What x held before is gone, so nothing flows back to it.
void Copy::vjp(Vjp& v, const Attrs&) {
  v.set(1, [&] { return gradient_like(v.gradient(), v.input_meta(1)); });
}

const Tensor& Tensor::copy_(const Tensor& source) const {
  return call_in_place<Copy>(*this, {*this, source});
}

const Tensor& fill_(const Tensor& x, Number value) {
  value.check_fits(x.dtype(), "fill");
  return x.copy_(value.tensor());
}

const Tensor& zero_(const Tensor& x) {
  return fill_(x, 0);
}

const Register<Copy> register_copy;

}  // namespace tessera
