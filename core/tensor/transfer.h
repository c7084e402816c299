// Elements on their way between the host's memory and a device's.
#pragma once

#include <cstdint>

#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// The elements of `x` on the CPU, off the tape: in x's own memory where the host reaches it, else
/// in a copy, with x's strides. Waits for the work that writes them, and rethrows its error. Throws
/// NotImplementedError for a tensor without elements.
[[nodiscard]] Tensor to_host(const Tensor& x);

/// The elements of `x` on `device`, off the tape: x's own memory when they are there, else dense
/// memory of their own, and on meta none. Throws NotImplementedError for a device that is not there
/// and for a tensor without elements.
[[nodiscard]] Tensor on_device(const Tensor& x, const Device& device);

/// Writes the elements of `from` to `to`, which is dense, of the same shape and dtype, each on any
/// device; autograd does not notice. Work on a stream where both are on devices of one type and its
/// backend copies. Throws InvalidArgument for others.
void transfer(const Tensor& to, const Tensor& from);

/// Writes +0 to all elements of `to`, which is dense, on any device; autograd does not notice.
void set_to_zero(const Tensor& to);

/// The hash of the elements of `x` in row-major order, wherever they lie: of their bytes alone, not
/// of shape and dtype (hash_bytes).
[[nodiscard]] std::uint64_t hash_elements(const Tensor& x, std::uint64_t seed = 0);

}  // namespace tessera
