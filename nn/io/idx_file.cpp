#include <tessera/nn/io/idx_file.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>
#include <span>

#include <tessera/core/base/error.h>
#include <tessera/core/base/file.h>
#include <tessera/core/tensor/factories.h>

namespace tessera::nn {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are turned round");

constexpr std::size_t kMagicBytes = 4;

std::optional<DType> dtype_of_code(std::byte code) {
  switch (std::to_integer<int>(code)) {
    case 0x08:
      return DType::u8;
    case 0x09:
      return DType::i8;
    case 0x0B:
      return DType::i16;
    case 0x0C:
      return DType::i32;
    case 0x0D:
      return DType::f32;
    case 0x0E:
      return DType::f64;
    default:
      return std::nullopt;
  }
}

struct IdxHeader {
  DType dtype = DType::u8;
  Shape shape;
  std::uint64_t data_begin = 0;
};

IdxHeader read_header(File& file, const std::string& path) {
  std::array<std::byte, kMagicBytes> magic{};
  const bool whole = file.read_at(magic, 0) == magic.size();
  const std::optional<DType> dtype = dtype_of_code(magic[2]);
  check<IoError>(whole && magic[0] == std::byte{0} && magic[1] == std::byte{0} && dtype, "idx: '",
                 path, "' is no IDX file");
  const int ndim = std::to_integer<int>(magic[3]);
  check<IoError>(ndim <= kMaxDims, "idx: '", path, "' has too many dims; got ", ndim,
                 ", expected at most ", kMaxDims);
  std::array<std::uint8_t, 4 * kMaxDims> sizes{};
  const std::size_t nbytes = 4 * static_cast<std::size_t>(ndim);
  check<IoError>(
      file.read_at(std::as_writable_bytes(std::span(sizes)).first(nbytes), kMagicBytes) == nbytes,
      "idx: '", path, "' ends in its header");
  IdxHeader header{.dtype = *dtype, .shape = {}, .data_begin = kMagicBytes + nbytes};
  for (std::size_t i = 0; i < nbytes; i += 4) {
    header.shape.push_back(std::int64_t{sizes[i]} << 24 | sizes[i + 1] << 16 | sizes[i + 2] << 8 |
                           sizes[i + 3]);
  }
  return header;
}

/// Throws unless the file has the bytes of its shape, no more and no fewer.
void check_size(const IdxHeader& header, std::uint64_t data, const std::string& path) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  std::uint64_t nbytes = size_of(header.dtype);
  bool fits = true;
  bool empty = false;
  for (const std::int64_t size : header.shape) {
    const auto factor = static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1));
    fits = fits && nbytes <= kMost / factor;
    nbytes *= factor;
    empty = empty || size == 0;
  }
  check<IoError>(fits && (empty ? 0 : nbytes) == data, "idx: '", path, "' has ", data,
                 " bytes of data, which are not those of shape ", header.shape, " of ",
                 header.dtype);
}

/// Elements of `width` bytes, the other way round.
void swap_bytes(std::span<std::byte> bytes, std::size_t width) {
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    std::ranges::reverse(bytes.subspan(at, width));
  }
}

}  // namespace

Tensor read_idx(const std::string& path) {
  const auto file = file_system().open(path, {});
  const IdxHeader header = read_header(*file, path);
  check_size(header, file->size() - header.data_begin, path);
  Tensor array = empty(header.shape, {.dtype = header.dtype});
  const std::span bytes(static_cast<std::byte*>(array.raw_data()), array.nbytes());
  check<IoError>(file->read_at(bytes, header.data_begin) == bytes.size(), "idx: '", path,
                 "' became shorter while it was read");
  swap_bytes(bytes, size_of(header.dtype));
  return array;
}

}  // namespace tessera::nn
