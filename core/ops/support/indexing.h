// What ops share that are given positions as tensors.
#pragma once

#include <tessera/core/dispatch/op.h>

namespace tessera {

/// Checks that `index` is i64 with the dims of `shape`, and no larger in dims other than `dim`.
void check_index(const char* op, const Shape& shape, const Tensor& index, int dim);

/// The position at `offset` of `index`, checked to lie in [0, size).
[[nodiscard]] std::int64_t position_at(const char* op, const TensorImpl& index, std::int64_t offset,
                                       std::int64_t size);

/// Labels of inputs 0 (x) and 1 (index): dims of equal size are cut together; along `dim` x is
/// whole and the index has a label of its own.
[[nodiscard]] ShardRule index_rule(const Infer& c, int dim);

}  // namespace tessera
