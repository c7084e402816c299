// Writing over the tensors of a tree, all or none of them.
#pragma once

#include <string>
#include <vector>

#include <tessera/core/tensor/tensor.h>

namespace tessera::nn::detail {

/// Why the elements of `from`, which has the shape, cannot be written, converted, where `into`
/// lies; empty when they can.
[[nodiscard]] std::string why_not_written(const Tensor& into, const Tensor& from);

/// True when the elements of both are equal bit by bit, in one dtype, or when either has none yet.
[[nodiscard]] bool same_elements(const Tensor& a, const Tensor& b);

/// Writes them. Nothing of it is recorded.
void overwrite(const Tensor& into, const Tensor& from);

/// Waits for what is being written to `x`. Throws where an update of it is put off to the last pass
/// of a step: to be asked of all that is about to be overwritten, before anything is.
void settle_writes(const Tensor& x);

struct Write {
  Tensor into, from;
};

/// Writes all of them, from what is there before the first: one's memory may be another's source.
/// Throws as `settle_writes`, before anything is written.
void overwrite_all(std::vector<Write> writes);

}  // namespace tessera::nn::detail
