#include <tessera/core/ops/support/draw.h>

#include <algorithm>

#include <tessera/core/base/random_scope.h>
#include <tessera/core/dispatch/call_context.h>
#include <tessera/core/ops/microbatches.h>

namespace tessera {

Draw new_draw(const Tensor& x) {
  const Pass& pass = *CallContext::current().pass;
  const std::int64_t microbatch_count = x.microbatches() ? x.microbatches().count : 1;
  const std::int64_t elements = std::max<std::int64_t>(x.numel() / microbatch_count, 1);
  const std::uint64_t key = next_random_key();
  if (StepDraws::alive()) {
    return {.key = key, .first_sample = 0, .samples = 0, .per_sample = elements};
  }
  std::int64_t samples = pass.samples / pass.count;
  if (samples == 0) {  // no loader announced a pass: dim 0 holds the samples
    samples = x.ndim() > 0 ? std::max<std::int64_t>(x.shape()[0] / microbatch_count, 1) : 1;
  }
  const bool even = elements % samples == 0;
  return {.key = key,
          .first_sample = pass.first_sample,
          .samples = samples,
          .per_sample = even ? elements / samples : elements};
}

Tensor for_each_drawing(const Tensor& x) {
  const Pass& pass = *CallContext::current().pass;
  const bool whole = pass.count > 1 && !x.microbatches() && !StepDraws::alive();
  return whole ? repeat_microbatches(x, static_cast<std::int32_t>(pass.count)) : x;
}

DrawnNumbers::DrawnNumbers(const Draw& draw, const TensorImpl& x)
    : draw_(draw),
      cut_dim_(x.microbatches().dim),
      microbatch_size_(x.microbatches() ? x.shape[cut_dim_] / x.microbatches().count : 0) {
  const Box box = draw.box_of(x);
  offset_ = box.offset;
  Shape microbatch = box.whole;
  if (cut_dim_ >= 0) {
    microbatch[cut_dim_] = microbatch_size_;
  }
  strides_ = contiguous_strides(microbatch);
}

DrawnNumbers::Index DrawnNumbers::operator()(const Dims& index) const {
  std::int64_t microbatch = 0;
  std::int64_t element = 0;
  for (int d = 0; d < index.size(); ++d) {
    std::int64_t i = offset_[d] + index[d];
    if (d == cut_dim_) {
      microbatch = i / microbatch_size_;
      i %= microbatch_size_;
    }
    element += i * strides_[d];
  }
  return {.sample = draw_.first_sample + microbatch * draw_.samples + element / draw_.per_sample,
          .offset = element % draw_.per_sample};
}

}  // namespace tessera
