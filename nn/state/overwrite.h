// Writing over the tensors of a tree, all or none of them.
#pragma once

#include <string>

#include <tessera/core/tensor/tensor.h>

namespace tessera::nn::detail {

/// Why the elements of `from`, which has the shape, cannot be written, converted, where `into`
/// lies; empty when they can.
[[nodiscard]] std::string why_not_written(const Tensor& into, const Tensor& from);

/// True when the elements of both are equal bit by bit, in one dtype, or when either has none yet.
[[nodiscard]] bool same_elements(const Tensor& a, const Tensor& b);

/// Writes them. Nothing of it is recorded.
void overwrite(const Tensor& into, const Tensor& from);

}  // namespace tessera::nn::detail
