// Binary PGM and PPM: "P5" or "P6", width, height and largest number as text, then the pixels row
// by row. Format: https://netpbm.sourceforge.net/doc/pgm.html and ppm.html
#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/core/base/file.h>
#include <tessera/nn/io/image.h>
#include <tessera/nn/io/pixels.h>

namespace tessera::nn {
namespace {

constexpr std::uint64_t kLargestSide = 1 << 24;

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_space(char c) {
  return std::string_view(" \t\n\v\f\r").find(c) != std::string_view::npos;
}

/// Reads the header's numbers, between which stand spaces and comments.
class NetpbmHeader {
 public:
  NetpbmHeader(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  std::uint64_t number(const char* what, std::uint64_t largest) {
    skip_spaces();
    std::uint64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    check<IoError>(error == std::errc() && value >= 1 && value <= largest, "image: '", path_,
                   "': the ", what, " is no number from 1 to ", largest);
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }
  /// Where the pixels begin: one space behind the last number.
  std::size_t end() const {
    check<IoError>(at_ < text_.size() && is_space(text_[at_]), "image: '", path_,
                   "' ends in its header");
    return at_ + 1;
  }

 private:
  void skip_spaces() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size() - 1);
      } else if (!is_space(text_[at_])) {
        return;
      }
    }
  }

  std::string_view text_;
  const std::string& path_;
  std::size_t at_ = 2;  // behind the magic
};

bool recognises(std::span<const std::byte> bytes) {
  const std::string_view text = as_text(bytes);
  return text.size() > 2 && (text.starts_with("P5") || text.starts_with("P6")) &&
         (is_space(text[2]) || text[2] == '#');
}

/// Numbers of one byte, or of two, the high one first, scaled to [0, 255].
std::vector<std::uint8_t> scaled(std::string_view pixels, std::uint64_t largest) {
  const std::size_t width = largest > 255 ? 2 : 1;
  std::vector<std::uint8_t> values(pixels.size() / width);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint64_t value = static_cast<unsigned char>(pixels[i * width]);
    if (width == 2) {
      value = value << 8 | static_cast<unsigned char>(pixels[i * 2 + 1]);
    }
    value = (std::min(value, largest) * 255 + largest / 2) / largest;
    values[i] = static_cast<std::uint8_t>(value);
  }
  return values;
}

Tensor decode(std::span<const std::byte> bytes, const std::string& path) {
  const std::string_view text = as_text(bytes);
  NetpbmHeader header(text, path);
  const std::uint64_t channels = text[1] == '6' ? 3 : 1;
  const std::uint64_t width = header.number("width", kLargestSide);
  const std::uint64_t height = header.number("height", kLargestSide);
  const std::uint64_t largest = header.number("largest value", 65535);
  const std::uint64_t size = width * height * channels * (largest > 255 ? 2 : 1);
  const std::string_view pixels = text.substr(header.end());
  check<IoError>(pixels.size() >= size, "image: '", path, "' is truncated; got ", pixels.size(),
                 " bytes of pixels, expected ", size, " for ", width, " x ", height);
  const auto values = scaled(pixels.substr(0, size), largest);
  return planes_of(values, static_cast<std::int64_t>(channels), static_cast<std::int64_t>(height),
                   static_cast<std::int64_t>(width));
}

const ImageFormatRegistration register_netpbm({"PGM and PPM (binary)", recognises, decode});

}  // namespace

void write_netpbm(const std::string& path, const Tensor& image) {
  const bool fits = image.ndim() == 3 && (image.size(0) == 1 || image.size(0) == 3);
  check(fits && image.dtype() == DType::u8, "write_netpbm: no picture; got ", image.dtype(), " ",
        image.shape(), ", expected u8 (1 or 3, height, width)");
  const std::string header = tessera::detail::concat(image.size(0) == 1 ? "P5\n" : "P6\n",
                                                     image.size(2), " ", image.size(1), "\n255\n");
  std::vector<std::byte> bytes(header.size() + image.nbytes());
  std::memcpy(bytes.data(), header.data(), header.size());
  pixels_of(image, std::span(bytes).subspan(header.size()));
  write_file(path, bytes);
}

}  // namespace tessera::nn
