#include <tessera/core/autograd/contributions.h>

#include <utility>

#include <tessera/core/autograd/pass_tree.h>
#include <tessera/core/dispatch/split_plan.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/mul.h>

namespace tessera {
namespace {

/// What one of `parts` microbatches has of a gradient of the whole pass; a power of two, so no bits
/// change.
Tensor share_of_microbatch(const Tensor& whole, std::int32_t parts) {
  return whole * (1.0 / parts);
}

void reconcile(Tensor& into, Tensor& value, const TensorMeta& meta) {
  if (into.cut().stacked && !value.cut()) {
    value = share_of_microbatch(value, into.cut().parts);
  } else if (value.cut().stacked && !into.cut()) {
    into = share_of_microbatch(into, value.cut().parts);
    std::swap(into, value);  // the larger one may be added to in place, and sums commute
  } else if (!meta.cut) {
    fail_on_microbatches("backward",
                         "a tensor that does not know its samples has one entry a sample for some "
                         "of its uses only (zeros_like(x) and the like make tensors that know)");
  }
}

/// `value` with the borders of the tensor whose gradient it is: microbatches where that has them,
/// none in a pass of one microbatch where that has none.
Tensor bordered_like(Tensor value, const TensorMeta& meta) {
  const Cut& cut = value.cut();
  if (cut.stacked && meta.cut && !meta.cut.stacked) {
    return lay_microbatches(value, meta.cut.dim);
  }
  return cut && cut.parts == 1 && !meta.cut ? unbind_microbatches(value)[0] : value;
}

}  // namespace

void add_contribution(Tensor& into, Tensor&& value, const TensorMeta& meta) {
  if (value.cut()) [[unlikely]] {
    value = bordered_like(std::move(value), meta);
  }
  if (!into.defined()) {
    into = std::move(value);
    return;
  }
  if (into.cut() != value.cut()) [[unlikely]] {
    reconcile(into, value, meta);
  }
  accumulate(into, value);
}

void check_fits_leaf(const Tensor& gradient, const TensorMeta& meta) {
  if (gradient.cut() && !gradient.cut().stacked && !meta.cut) [[unlikely]] {
    fail_on_microbatches(
        "backward",
        "a leaf that does not know its samples is as long as the pass and was used "
        "with one entry a sample (zeros_like(x) and the like make tensors that "
        "know)");
  }
}

}  // namespace tessera
