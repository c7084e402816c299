#include <tessera/core/ops/support/attention_options.h>

#include <tessera/core/base/random_scope.h>
#include <tessera/core/dispatch/call_context.h>
#include <tessera/core/dispatch/split_plan.h>
#include <tessera/core/ops/support/checks.h>

namespace tessera {

AttentionAttrs attention_attrs(const Tensor& x, const AttentionOptions& options) {
  check_probability("attention", "dropout", options.dropout);
  const CallContext context = CallContext::current();
  AttentionAttrs attrs{
      .causal = options.causal, .scale = options.scale, .dtype = context.compute_dtype(x.dtype())};
  if (options.dropout > 0) {
    const bool whole = context.pass->count > 1 && !x.microbatches();
    if (x.microbatches().per_microbatch || x.microbatches().dim > 0 || whole) {
      fail_on_microbatches("attention", "needs the samples in dim 0 for dropout");
    }
    check<Unsupported>(!StepDraws::alive(),
                       "attention: draws dropout for each sample, which a StepDraws does not");
    attrs.dropout = options.dropout;
    attrs.key = next_random_key();
    attrs.first_sample = context.pass->first_sample;
  }
  return attrs;
}

}  // namespace tessera
