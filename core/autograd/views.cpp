#include <tessera/core/autograd/views.h>

#include <mutex>

#include <tessera/core/autograd/record.h>
#include <tessera/core/ops/as_strided.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/view_scatter.h>
#include <tessera/core/tensor/loss_counts.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/core/tensor/overlap.h>

namespace tessera {
namespace {

/// Where the elements of `view` lie in its base.
StridedView geometry_of(const TensorImpl& view) {
  return {view.shape, view.strides, view.offset - view.base->offset, view.microbatches()};
}

bool is_leaf_with_gradient(const TensorImpl& x) {
  return x.wants_gradient() && !x.autograd->producer;
}

}  // namespace

void refresh_view(const Tensor& view) {
  static std::mutex turn;  // a view may be read on several threads
  const std::lock_guard lock(turn);
  if (!is_stale(view.get())) {
    return;
  }
  check<RuntimeError>(!view.get().boundary, "backward hooks: an input or output of a module with ",
                      "backward hooks was changed in place after the call; got shape ",
                      view.shape(), ", expected a clone(x) to be changed");
  const StridedView attrs = geometry_of(view.get());
  const Tensor base(view.get().base);
  check<Unsupported>(base.is_contiguous(), "views: a view of a strided tensor that was written to ",
                     "on the tape is older than the write; got a base with strides ",
                     base.strides(), ", expected the view to be made again");
  Outputs outputs{view};
  record(op_def<AsStrided>(), std::array{TensorRef(base)}, &attrs, outputs);
}

void check_write_on_tape(const char* op, const Tensor& x, bool recording) {
  const TensorImpl& impl = x.get();
  check<RuntimeError>(!impl.boundary, op, ": the input or output of a module with backward hooks ",
                      "cannot be changed in place");
  check<RuntimeError>(!recording || !impl.inference, op,
                      ": a tensor made under InferenceGuard cannot go on a tape; got shape ",
                      impl.shape, ", expected a clone(x) made after the guard");
  const TensorImpl& owner = impl.base ? *impl.base : impl;
  check<RuntimeError>(!is_leaf_with_gradient(owner) && !is_leaf_with_gradient(impl), op,
                      ": a leaf that requires a gradient cannot be changed ",
                      "in place; use NoGradGuard to change it off the tape");
  const bool on_tape = recording || impl.untracked_gradient;
  check(!on_tape || !impl.untracked_view, op, ": the destination is a view that was made while ",
        "nothing was recorded; make it again");
  check<Unsupported>(!recording || !impl.base || owner.contiguous(), op,
                     ": cannot record writes to a view of a strided tensor; got strides ",
                     owner.strides, ", expected those of a contiguous one");
}

void spread_write(Tensor& x) {
  TensorImpl& impl = x.get();
  if (impl.autograd == nullptr || !impl.autograd->producer) {
    return;  // integers are not on the tape
  }
  if (!impl.base) {
    ++impl.epoch;
    return;
  }
  const StridedView attrs = geometry_of(impl);
  Outputs base{Tensor(impl.base)};
  record(op_def<ViewScatter>(), std::array{TensorRef(base[0]), TensorRef(x)}, &attrs, base);
  ++impl.base->epoch;  // `x`, stale itself now, will be a view of the new base
}

Tensor with_its_place(const Tensor& x) {
  settle_view(x);
  Tensor same = x.detach();
  copy_place(x.get(), same.get());
  return same;
}

Tensor snapshot(const Tensor& x) {
  settle_view(x);
  const NoGradGuard off_the_tape;
  Tensor copy = clone(x);
  copy.get().set_microbatches(x.microbatches());
  copy.get().set_counts(x.get().counts());
  copy_place(x.get(), copy.get());
  return copy;
}

}  // namespace tessera
