#include <tessera/core/ops/cast.h>

#include <tessera/core/dispatch/vjp.h>

namespace tessera {

void Cast::infer(Infer& c, const Attrs& attrs) {
  infer_elementwise(c, 1, attrs.dtype);
}

void Cast::reference(Kernel& k, const Attrs&) {
  const TensorImpl& x = k.input();
  TensorImpl& y = k.output();
  StridedCounter<2> at(x.shape, {x.strides, y.strides});
  visit_dtype(x.dtype, [&]<class From>() {
    visit_dtype(y.dtype, [&]<class To>() {
      for (std::int64_t n = x.numel(); n > 0; --n, at.next()) {
        y.data<To>()[at.offsets[1]] = convert<To>(x.data<From>()[at.offsets[0]]);
      }
    });
  });
}

void Cast::vjp(Vjp& v, const Attrs&) {
  v.set(0, cast(v.gradient(), v.input_meta().dtype));
}

Tensor cast(const Tensor& x, DType dtype, bool copy) {
  if (x.dtype() == dtype && !copy) {
    return x;
  }
  Tensor y = call<Cast>({x}, {dtype});
  if (x.dtype() == dtype && x.microbatches().per_microbatch) {
    y.get().set_over(x.microbatches().over);  // a copy is over the pass what it is a copy of
  }
  return y;
}

const Register<Cast> register_cast;

}  // namespace tessera
