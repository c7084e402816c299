#include <tessera/core/ops/support/target_counts.h>

#include <tessera/core/dispatch/call.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/loss_counts.h>

namespace tessera {

Tensor count_targets(const Tensor& targets, std::int64_t ignore_index) {
  const Tensor counts = ne(cast(targets, DType::i64), ignore_index);
  return call<Sum>({cast(counts, DType::f64)}, {}, BatchSum::per_microbatch);
}

Tensor with_target_counts(Tensor loss, const char* op, const Tensor& rows, const Tensor& targets,
                          std::int64_t ignore_index) {
  Tensor of_rows = targets.detach();
  if (!of_rows.microbatches() && !rows.microbatches().per_microbatch) {
    of_rows.get().set_microbatches(
        rows.microbatches());  // they do not depend on the samples, but there is one a row
  }
  const Tensor counted = count_targets(of_rows, ignore_index);
  const MicrobatchLayout layout =
      loss.microbatches();  // rows may exist once a microbatch where all have these targets
  attach_counts(
      loss, op,
      layout && !counted.microbatches() ? repeat_microbatches(counted, layout.count) : counted,
      elements_of_microbatch(of_rows),
      rows.microbatches().per_microbatch ? OverPass::none : OverPass::mean);
  return loss;
}

}  // namespace tessera
