#include <tessera/core/autograd/contributions.h>

#include <utility>

#include <tessera/core/autograd/pass_tree.h>
#include <tessera/core/dispatch/split_plan.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/mul.h>

namespace tessera {
namespace {

/// What one of `microbatch_count` microbatches has of a gradient of the whole pass; a power of two,
/// so no bits change.
Tensor share_of_microbatch(const Tensor& whole, std::int32_t microbatch_count) {
  return whole * (1.0 / microbatch_count);
}

void reconcile(Tensor& into, Tensor& value, const TensorMeta& meta) {
  if (into.microbatches().per_microbatch && !value.microbatches()) {
    value = share_of_microbatch(value, into.microbatches().count);
  } else if (value.microbatches().per_microbatch && !into.microbatches()) {
    into = share_of_microbatch(into, value.microbatches().count);
    std::swap(into, value);  // the larger one may be added to in place, and sums commute
  } else if (!meta.microbatches) {
    fail_on_microbatches("backward",
                         "a tensor that does not know its samples has one entry a sample for some "
                         "of its uses only (zeros_like(x) and the like make tensors that know)");
  }
}

/// `value` with the borders of the tensor whose gradient it is: microbatches where that has them,
/// none in a pass of one microbatch where that has none.
Tensor bordered_like(Tensor value, const TensorMeta& meta) {
  const MicrobatchLayout& layout = value.microbatches();
  if (layout.per_microbatch && meta.microbatches && !meta.microbatches.per_microbatch) {
    return lay_microbatches(value, meta.microbatches.dim);
  }
  return layout && layout.count == 1 && !meta.microbatches ? unbind_microbatches(value)[0] : value;
}

}  // namespace

void add_contribution(Tensor& into, Tensor&& value, const TensorMeta& meta) {
  if (value.microbatches()) [[unlikely]] {
    value = bordered_like(std::move(value), meta);
  }
  if (!into.defined()) {
    into = std::move(value);
    return;
  }
  if (into.microbatches() != value.microbatches()) [[unlikely]] {
    reconcile(into, value, meta);
  }
  accumulate(into, value);
}

void check_fits_leaf(const Tensor& gradient, const TensorMeta& meta) {
  if (gradient.microbatches() && !gradient.microbatches().per_microbatch && !meta.microbatches)
      [[unlikely]] {
    fail_on_microbatches(
        "backward",
        "a leaf that does not know its samples is as long as the pass and was used "
        "with one entry a sample (zeros_like(x) and the like make tensors that "
        "know)");
  }
}

}  // namespace tessera
