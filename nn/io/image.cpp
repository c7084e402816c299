#include <tessera/nn/io/image.h>

#include <algorithm>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/core/base/file.h>
#include <tessera/core/ops/concat.h>
#include <tessera/core/tensor/factories.h>

namespace tessera::nn {
namespace {

std::vector<ImageFormat>& formats() {
  static std::vector<ImageFormat> all;
  return all;
}

Tensor decode(std::span<const std::byte> bytes, const std::string& path) {
  const auto found = std::ranges::find_if(
      formats(), [&](const ImageFormat& format) { return format.recognises(bytes); });
  if (found != formats().end()) {
    return found->decode(bytes, path);
  }
  std::string names;
  for (const ImageFormat& format : formats()) {
    names += names.empty() ? "" : ", ";
    names += format.name;
  }
  constexpr unsigned char kPng[] = {0x89, 'P', 'N', 'G'};
  const bool png = bytes.size() >= sizeof kPng &&
                   std::ranges::equal(bytes.first(sizeof kPng), std::as_bytes(std::span(kPng)));
  check<Unsupported>(!png, "image: '", path, "' is a PNG; this build reads ", names,
                     " (for PNG build with libpng)");
  fail<IoError>("image: '", path, "' is no picture of a known format; expected ", names);
}

Tensor to_grey(const Tensor& rgb) {
  const std::int64_t area = rgb.size(1) * rgb.size(2);
  Tensor grey = empty({1, rgb.size(1), rgb.size(2)}, {.dtype = DType::u8});
  const auto* from = rgb.data<std::uint8_t>();
  auto* to = grey.data<std::uint8_t>();
  for (std::int64_t i = 0; i < area; ++i) {  // the weights in 1/65536, which sum to 1
    const std::uint32_t sum =
        19595U * from[i] + 38470U * from[area + i] + 7471U * from[2 * area + i];
    to[i] = static_cast<std::uint8_t>((sum + 0x8000U) >> 16);
  }
  return grey;
}

}  // namespace

ImageFormatRegistration::ImageFormatRegistration(const ImageFormat& format) {
  formats().push_back(format);
}

Tensor read_image(const std::string& path, ImageMode mode) {
  const std::string text = read_file(path);
  Tensor image = decode(std::as_bytes(std::span(text)), path);
  if (mode == ImageMode::rgb && image.size(0) == 1) {
    return concat({image, image, image}, 0);
  }
  return mode == ImageMode::grey && image.size(0) == 3 ? to_grey(image) : image;
}

}  // namespace tessera::nn
