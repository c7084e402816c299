// Pixels, whose channels lie side by side in files, and planes, one a channel, as in tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <tessera/core/tensor/tensor.h>

namespace tessera::nn {

/// `pixels`, height * width * channels of them, as u8 (channels, height, width).
[[nodiscard]] Tensor planes_of(std::span<const std::uint8_t> pixels, std::int64_t channels,
                               std::int64_t height, std::int64_t width);

/// The way back: fills `pixels` from u8 (channels, height, width).
void pixels_of(const Tensor& planes, std::span<std::byte> pixels);

}  // namespace tessera::nn
