// What losses with an ignored target count.
#pragma once

#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// Targets of each microbatch that are not `ignore_index`: f64, () or (microbatches).
[[nodiscard]] Tensor count_targets(const Tensor& targets, std::int64_t ignore_index);

/// `loss`, which `op` formed as the mean of each microbatch of `rows` (..., n) over the targets
/// (...) that are not `ignore_index`, with its counts.
[[nodiscard]] Tensor with_target_counts(Tensor loss, const char* op, const Tensor& rows,
                                        const Tensor& targets, std::int64_t ignore_index);

}  // namespace tessera
