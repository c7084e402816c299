#include <tessera/nn/loss/ctc_loss.h>

#include <algorithm>

#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/ctc_loss.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/ops/maximum.h>
#include <tessera/core/ops/squeeze.h>
#include <tessera/core/ops/unsqueeze.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/transfer.h>

namespace tessera::nn {
namespace {

/// Labels that lie one after another, as rows of equal length.
Tensor rows_of(const Tensor& targets, const Tensor& lengths) {
  check<Unsupported>(!targets.microbatches(),
                     "ctc_loss: targets of several microbatches must be (N, S)");
  const std::vector<std::int64_t> labels = targets.to_vector<std::int64_t>();
  const std::vector<std::int64_t> sizes = lengths.to_vector<std::int64_t>();
  std::int64_t total = 0;
  std::int64_t longest = 0;
  for (const std::int64_t size : sizes) {
    check(size >= 0 && size <= std::ssize(labels), "ctc_loss: wrong target length; got ", size,
          ", expected one in [0, ", labels.size(), "]");
    total += size;
    longest = std::max(longest, size);
  }
  check(total == std::ssize(labels), "ctc_loss: wrong number of labels; got ", labels.size(),
        ", expected the ", total, " of target_lengths");
  Tensor rows = zeros({std::ssize(sizes), longest}, {.dtype = DType::i64});
  auto next = labels.begin();
  for (std::size_t n = 0; n < sizes.size(); ++n) {
    std::copy_n(next, sizes[n], rows.data<std::int64_t>() + static_cast<std::int64_t>(n) * longest);
    next += sizes[n];
  }
  return on_device(rows, targets.device());
}

Tensor losses_of_batch(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                       const Tensor& target_lengths, const CTCLossOptions& options) {
  const bool rows = targets.ndim() != 1;
  Tensor losses =
      call<CtcLoss>({widened(log_probs), rows ? targets : rows_of(targets, target_lengths),
                     input_lengths, target_lengths},
                    {.blank = options.blank, .zero_infinity = options.zero_infinity});
  if (options.reduction == Reduction::mean) {
    losses = losses / maximum(cast(target_lengths, losses.dtype()), 1);
  }
  return losses;
}

}  // namespace

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, const CTCLossOptions& options) {
  if (log_probs.ndim() != 2) {
    return reduce(losses_of_batch(log_probs, targets, input_lengths, target_lengths, options),
                  options.reduction);
  }
  const Tensor losses =
      losses_of_batch(unsqueeze(log_probs, 1), unsqueeze(targets, 0), unsqueeze(input_lengths, 0),
                      unsqueeze(target_lengths, 0), options);
  return squeeze(losses, 0);
}

}  // namespace tessera::nn
