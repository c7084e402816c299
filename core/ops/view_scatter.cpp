#include <tessera/core/ops/view_scatter.h>

#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/elements.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {
namespace {

StridedView in_pieces(const Tensor& x, const StridedView& view) {
  return in_each_microbatch("view_scatter", view, x.microbatches(),
                            x.numel() / x.microbatches().count);
}

}  // namespace

void ViewScatter::infer(Infer& c, const Attrs& attrs) {
  check_view_inside("view_scatter", attrs, c.input(0).shape());
  check(c.input(1).shape() == attrs.shape && c.input(1).dtype() == c.input(0).dtype(),
        "view_scatter: the elements do not fit; got ", c.input(1).shape(), " ", c.input(1).dtype(),
        ", expected ", attrs.shape, " ", c.input(0).dtype());
  c.add_output(c.input(0).shape(), c.input(0).dtype(), c.input(0).microbatches());
}

void ViewScatter::reference(Kernel& k, const Attrs& attrs) {
  const TensorImpl& x = k.input(0);
  const TensorImpl& y = k.input(1);
  visit_dtype(x.dtype, [&]<class T>() {
    T* out = k.output().data<T>();
    std::int64_t next = 0;
    for_each_element(x, [&](std::int64_t at) { out[next++] = x.data<T>()[at]; });
    StridedCounter<2> at(y.shape, {y.strides, attrs.strides});
    for (std::int64_t n = y.numel(); n > 0; --n, at.next()) {
      out[attrs.offset + at.offsets[1]] = y.data<T>()[at.offsets[0]];
    }
  });
}

void ViewScatter::vjp(Vjp& v, const Attrs& attrs) {
  const Tensor g = contiguous(v.gradient());
  if (v.needs(0)) {
    const StridedView all = in_pieces(g, attrs);
    const Tensor none = zeros(all.shape, {.dtype = g.dtype(), .device = g.device()});
    v.set(0, view_scatter(g, none, all));
  }
  v.set(1, [&] { return as_strided(g, attrs); });
}

Tensor view_scatter(const Tensor& x, const Tensor& y, const StridedView& view) {
  return call<ViewScatter>({x, y}, in_pieces(x, view));
}

const Register<ViewScatter> register_view_scatter;

}  // namespace tessera
