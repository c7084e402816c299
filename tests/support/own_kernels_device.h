// A device that has streams and kernels of its own, which are called on the host and put what they
// do into a stream themselves: the way of GPUs.
#pragma once

#include <vector>

#include <tessera/core/device/device.h>
#include <tessera/core/device/stream.h>

namespace tessera::test {

/// The only device of type "own". It multiplies dense f32 tensors of one shape, and those by
/// numbers, and can do nothing else.
[[nodiscard]] Device own_kernels_device();

/// The streams that its kernels got, since this was asked last.
[[nodiscard]] std::vector<StreamId> streams_of_kernels();

}  // namespace tessera::test
