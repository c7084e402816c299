#include <tessera/core/ops/support/attention_options.h>

#include <tessera/core/base/context.h>
#include <tessera/core/dispatch/autocast.h>

namespace tessera {

AttentionAttrs attention_attrs(const Tensor& x, const AttentionOptions& options) {
  check(options.dropout >= 0 && options.dropout <= 1, "attention: wrong dropout; got ",
        options.dropout, ", expected a probability in [0, 1]");
  AttentionAttrs attrs{
      .causal = options.causal, .scale = options.scale, .dtype = compute_dtype(x.dtype())};
  if (options.dropout > 0) {
    check<Unsupported>(!x.cut().stacked, "attention: dropout needs the samples in dim 0");
    attrs.dropout = options.dropout;
    attrs.key = next_random_key();
    attrs.first_sample = Context::current().pass.first_sample;
  }
  return attrs;
}

}  // namespace tessera
