#include <tessera/core/ops/channel_dropout.h>

#include <tessera/core/dispatch/split_plan.h>
#include <tessera/core/ops/dropout.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/support/checks.h>

namespace tessera {

Tensor channel_dropout(const Tensor& x, double p) {
  const int first = x.microbatches().per_microbatch ? 1 : 0;  // behind it lie samples and channels
  check_layout(x.ndim() >= first + 2, "channel_dropout", "x", x.shape(),
               "(samples, channels, ...)");
  if (x.microbatches().sample_dim() > 1) {  // one mask for all samples of a microbatch
    fail_on_microbatches("channel_dropout", "mixes samples");
  }
  Shape channels = x.shape();
  for (int d = first + 2; d < x.ndim(); ++d) {
    channels[d] = 1;
  }
  return x * dropout_factors(x, channels, p);
}

}  // namespace tessera
