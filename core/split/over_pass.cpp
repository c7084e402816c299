#include <tessera/core/split/over_pass.h>

namespace tessera {
namespace {

/// True where what `op` makes of the batch's numbers is what becomes of those that it makes of the
/// microbatches': a mean may go together with what all share, a sum may not.
bool is_linear(const OpDef& op, const Origins& from) {
  const bool one = from.per_microbatch == 1 && !from.beside;
  switch (op.info.linear) {
    case LinearIn::first:
      return one && from.first;
    case LinearIn::either:
      return one;
    case LinearIn::all:
      return from.over == OverPass::mean || (!from.shared && !from.samples);
    case LinearIn::none:
      break;
  }
  return false;
}

/// How numbers come together that `op` makes of numbers once a microbatch.
OverPass kept_over(const OpDef& op, const Origins& from) {
  if (op.info.view && from.per_microbatch == 1) {
    return from.over;
  }
  const bool adds = from.over == OverPass::mean || from.over == OverPass::sum;
  return from.alike && adds && is_linear(op, from) ? from.over : OverPass::none;
}

/// How numbers come together that it makes of samples, which may be less the mean of their
/// microbatch.
OverPass reduced_over(const OpDef& op, const Origins& from) {
  const bool means = from.alike && from.over == OverPass::mean;
  return means && (from.per_microbatch == 0 || is_linear(op, from)) ? op.info.over_samples
                                                                    : OverPass::none;
}

}  // namespace

Origins::Origins(std::span<const TensorRef> inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]->defined()) {
      continue;
    }
    const MicrobatchLayout& layout = inputs[i]->microbatches();
    samples |= layout.sample_dim() >= 0;
    beside |= layout && !layout.per_microbatch;
    shared |= !layout;
    if (layout.per_microbatch) {
      alike &= per_microbatch == 0 || layout.over == over;
      over = layout.over;
      ++per_microbatch;
      first |= i == 0;
    }
  }
  is_real = !inputs.empty() && inputs[0]->defined() && is_differentiable(inputs[0]->dtype());
}

void mark_base(const TensorImpl& written) {
  if (TensorImpl* base = written.base.get();
      base != nullptr && base->microbatches().over != written.microbatches().over) {
    base->set_over(OverPass::none);
  }
}

void mark_over_pass(const OpDef& op, const Origins& from, const Outputs& outputs) {
  for (const Tensor& y : outputs) {
    if (y.defined() && y.microbatches().per_microbatch) {
      const bool reduces = from.samples && y.microbatches().samples < 0;
      const OverPass over = reduces ? reduced_over(op, from) : kept_over(op, from);
      const bool rounds = from.is_real && !is_differentiable(y.dtype());
      const bool adds = over == OverPass::mean || over == OverPass::sum;
      const bool rounded = adds && (rounds || y.dtype() == DType::boolean);
      y.get().set_over(rounded ? OverPass::none : over);  // a cast, rounded once a microbatch
    }
  }
}

}  // namespace tessera
