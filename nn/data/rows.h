// Rows of tensors brought together, byte for byte.
#pragma once

#include <cstdint>
#include <span>

#include <tessera/core/tensor/tensor.h>

namespace tessera::data {

/// Row `index` (along dim 0) of a contiguous tensor, as a view without its own place on the tape.
[[nodiscard]] Tensor row_of(const Tensor& rows, std::int64_t index);

/// Rows (along dim 0) of a contiguous tensor, in the order of `indices`, which are in range.
[[nodiscard]] Tensor gather_rows(const Tensor& rows, std::span<const std::int64_t> indices);

/// Samples of equal shape and dtype (...) as one tensor (samples, ...). Throws InvalidArgument
/// naming the first that differs from sample 0.
[[nodiscard]] Tensor stack_samples(std::span<const Tensor> samples);

/// A hash of a tensor's shape, dtype and elements.
[[nodiscard]] std::uint64_t hash_tensor(const Tensor& tensor);

}  // namespace tessera::data
