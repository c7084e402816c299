// PNG through libpng.
#include <png.h>

#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/nn/io/image.h>
#include <tessera/nn/io/pixels.h>

namespace tessera::nn {
namespace {

/// Deflate makes nothing smaller than a 1032nd (zlib's technical notes).
constexpr std::uint64_t kLargestRatio = 1032;

/// What libpng's functions see of a file in memory. They leave errors by a jump, over no object
/// that has a destructor: all that has one belongs to the caller.
struct Source {
  std::span<const std::byte> bytes;
  std::size_t at = 0;
  std::array<char, 128> error{};
};

struct Sizes {
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  std::uint64_t channels = 0;
  std::uint64_t packed = 0;  ///< bytes of all rows, as they were before compression
};

void read_bytes(png_structp png, png_bytep to, std::size_t count) {
  auto* source = static_cast<Source*>(png_get_io_ptr(png));
  if (count > source->bytes.size() - source->at) {
    png_error(png, "the file ends too early");
  }
  std::memcpy(to, source->bytes.data() + source->at, count);
  source->at += count;
}

[[noreturn]] void on_error(png_structp png, png_const_charp text) {
  auto* source = static_cast<Source*>(png_get_error_ptr(png));
  std::snprintf(source->error.data(), source->error.size(), "%s", text);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

/// Asks for eight bits a channel, no palette and no transparency.
void ask_for_plain_pixels(png_structp png) {
  png_set_expand(png);
  png_set_scale_16(png);
  png_set_strip_alpha(png);
  png_set_interlace_handling(png);
}

/// One file being read.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : source_{.bytes = bytes} {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &source_, on_error, on_warning);
    info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
  }
  ~Reader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// False on an error.
  bool read_header(Sizes& sizes) {
    if (info_ == nullptr || setjmp(png_jmpbuf(png_)) != 0) {
      return false;
    }
    png_set_read_fn(png_, &source_, read_bytes);
    png_read_info(png_, info_);
    sizes.packed = std::uint64_t{png_get_rowbytes(png_, info_)} * png_get_image_height(png_, info_);
    ask_for_plain_pixels(png_);
    png_read_update_info(png_, info_);
    sizes.width = png_get_image_width(png_, info_);
    sizes.height = png_get_image_height(png_, info_);
    sizes.channels = png_get_channels(png_, info_);
    return true;
  }
  bool read_rows(png_bytepp rows) {
    if (setjmp(png_jmpbuf(png_)) != 0) {
      return false;
    }
    png_read_image(png_, rows);
    png_read_end(png_, nullptr);
    return true;
  }
  const char* error() const { return source_.error.data(); }

 private:
  Source source_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

bool recognises(std::span<const std::byte> bytes) {
  return bytes.size() >= 4 &&
         png_sig_cmp(reinterpret_cast<png_const_bytep>(bytes.data()), 0, 4) == 0;
}

Tensor decode(std::span<const std::byte> bytes, const std::string& path) {
  Reader reader(bytes);
  Sizes sizes;
  check<IoError>(reader.read_header(sizes), "image: '", path, "': ", reader.error());
  check<IoError>(sizes.packed <= bytes.size() * kLargestRatio, "image: '", path, "' claims ",
                 sizes.width, " x ", sizes.height, " pixels, more than ", bytes.size(),
                 " bytes can hold");
  std::vector<std::uint8_t> pixels(sizes.width * sizes.height * sizes.channels);
  std::vector<png_bytep> rows;
  for (std::uint64_t row = 0; row < sizes.height; ++row) {
    rows.push_back(pixels.data() + row * sizes.width * sizes.channels);
  }
  check<IoError>(reader.read_rows(rows.data()), "image: '", path, "': ", reader.error());
  return planes_of(pixels, static_cast<std::int64_t>(sizes.channels),
                   static_cast<std::int64_t>(sizes.height), static_cast<std::int64_t>(sizes.width));
}

const ImageFormatRegistration register_png({"PNG", recognises, decode});

}  // namespace
}  // namespace tessera::nn
