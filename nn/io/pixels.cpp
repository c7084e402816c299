#include <tessera/nn/io/pixels.h>

#include <cstring>

#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/permute.h>
#include <tessera/core/tensor/factories.h>

namespace tessera::nn {

Tensor planes_of(std::span<const std::uint8_t> pixels, std::int64_t channels, std::int64_t height,
                 std::int64_t width) {
  return contiguous(permute(from_values(pixels, {height, width, channels}), {2, 0, 1}));
}

void pixels_of(const Tensor& planes, std::span<std::byte> pixels) {
  const Tensor rows = contiguous(permute(planes, {1, 2, 0}));
  std::memcpy(pixels.data(), rows.raw_data(), rows.nbytes());
}

}  // namespace tessera::nn
