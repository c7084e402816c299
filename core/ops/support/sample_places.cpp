#include <tessera/core/ops/support/sample_places.h>

#include <algorithm>

#include <tessera/core/base/random_scope.h>
#include <tessera/core/dispatch/call_context.h>
#include <tessera/core/ops/microbatches.h>

namespace tessera {

SampleShares sample_shares(const Tensor& x) {
  const Pass& pass = *CallContext::current().pass;
  const std::int64_t parts = x.cut() ? x.cut().parts : 1;
  const std::int64_t elements = std::max<std::int64_t>(x.numel() / parts, 1);
  if (StepDraws::alive()) {
    return {.first_sample = 0, .samples = 0, .per_sample = elements};
  }
  std::int64_t samples = pass.samples / pass.count;
  if (samples == 0) {  // no loader announced a pass: dim 0 holds the samples
    samples = x.ndim() > 0 ? std::max<std::int64_t>(x.shape()[0] / parts, 1) : 1;
  }
  const bool even = elements % samples == 0;
  return {.first_sample = pass.first_sample,
          .samples = samples,
          .per_sample = even ? elements / samples : elements};
}

Tensor for_each_drawing(const Tensor& x) {
  const Pass& pass = *CallContext::current().pass;
  const bool whole = pass.count > 1 && !x.cut() && !StepDraws::alive();
  return whole ? repeat_microbatches(x, static_cast<std::int32_t>(pass.count)) : x;
}

}  // namespace tessera
