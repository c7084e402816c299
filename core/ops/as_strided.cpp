#include <tessera/core/ops/as_strided.h>

#include <vector>

#include <tessera/core/dispatch/split_plan.h>
#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/dense.h>
#include <tessera/core/ops/support/overflow.h>

namespace tessera {
namespace {

template <class C>
void add_up(Kernel& k, const StridedSum::Attrs& attrs) {
  const TensorImpl& x = k.input();
  std::vector<C> sums(static_cast<std::size_t>(numel_of(attrs.shape)), C(0));
  StridedCounter<2> at(x.shape, {x.strides, attrs.view.strides});
  for (std::int64_t n = x.numel(); n > 0; --n, at.next()) {
    sums[static_cast<std::size_t>(attrs.view.offset + at.offsets[1])] +=
        load_as<C>(x, at.offsets[0]);
  }
  store_values(k.output(), sums);
}

}  // namespace

void check_view_inside(const char* op, const StridedView& view, const Shape& shape) {
  check(view.shape.size() == view.strides.size(), op, ": wrong number of strides; got ",
        view.strides, ", expected one for each dim of ", view.shape);
  std::int64_t last = view.offset;
  bool natural = view.offset >= 0;
  for (int d = 0; d < view.shape.size(); ++d) {
    natural = natural && view.shape[d] >= 0 && view.strides[d] >= 0 &&
              add_product(last, view.shape[d] - 1, view.strides[d]);
  }
  check(natural && (numel_of(view.shape) == 0 || last < numel_of(shape)), op,
        ": view reaches outside of the tensor; got shape ", view.shape, ", strides ", view.strides,
        ", offset ", view.offset, ", expected elements of ", shape);
}

StridedView in_each_microbatch(const char* op, StridedView view, const MicrobatchLayout& layout,
                               std::int64_t step) {
  if (!layout || view.microbatches) {
    return view;
  }
  if (!layout.per_microbatch) {
    fail_on_microbatches(op, "mixes samples");
  }
  view.shape.insert(0, layout.count);
  view.strides.insert(0, step);
  view.microbatches = layout;
  return view;
}

void AsStrided::infer(Infer& c, const Attrs& attrs) {
  check_dense("as_strided", c.input());
  check_view_inside("as_strided", attrs, c.input().shape());
  c.add_output(attrs.shape, c.input().dtype(),
               c.input().microbatches() ? attrs.microbatches : MicrobatchLayout{});
}

void AsStrided::alias(const TensorImpl&, TensorImpl& out, int, const Attrs& attrs) {
  out.strides = attrs.strides;
  out.offset += attrs.offset;
}

void AsStrided::vjp(Vjp& v, const Attrs& attrs) {
  v.set(0, strided_sum(v.gradient(), v.input_meta().shape, attrs, v.input_meta().microbatches));
}

void StridedSum::infer(Infer& c, const Attrs& attrs) {
  check_view_inside("strided_sum", attrs.view, attrs.shape);
  check_shape("strided_sum", "x", c.input().shape(), attrs.view.shape);
  c.add_output(attrs.shape, c.input().dtype(),
               c.input().microbatches() ? attrs.microbatches : MicrobatchLayout{});
}

void StridedSum::reference(Kernel& k, const Attrs& attrs) {
  with_computing_type(k.output().dtype, [&]<class C>() { add_up<C>(k, attrs); });
}

void StridedSum::vjp(Vjp& v, const Attrs& attrs) {
  v.set(0, as_strided(contiguous(v.gradient()), attrs.view));
}

Tensor as_strided(const Tensor& x, const StridedView& view) {
  if (x.microbatches().per_microbatch && !view.microbatches) {
    check_view_inside("as_strided", view, unstacked_shape(x));
  }
  const std::int64_t step = x.numel() / x.microbatches().count;
  return call<AsStrided>({x}, in_each_microbatch("as_strided", view, x.microbatches(), step));
}

Tensor strided_sum(const Tensor& x, const Shape& shape, const StridedView& view,
                   const MicrobatchLayout& layout) {
  StridedSum::Attrs attrs{shape, view, layout};
  attrs.view = in_each_microbatch("strided_sum", view, x.microbatches(), numel_of(shape));
  if (attrs.view.microbatches != view.microbatches) {
    attrs.shape.insert(0, x.microbatches().count);
    attrs.microbatches = x.microbatches();
  }
  return call<StridedSum>({x}, attrs);
}

const Register<AsStrided> register_as_strided;
const Register<StridedSum> register_strided_sum;

}  // namespace tessera
