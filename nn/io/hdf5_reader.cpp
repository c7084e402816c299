#include <tessera/nn/io/hdf5_reader.h>

#include <algorithm>
#include <cstring>

#include <tessera/core/device/thread_pool.h>
#include <tessera/nn/io/aligned_buffer.h>
#include <tessera/nn/io/hdf5_types.h>

namespace tessera::nn {
namespace {

constexpr std::uint64_t kPiece = 4 << 20;

Hdf5Handle open_hdf5(Hdf5Storage& storage, const std::string& path) {
  const Hdf5Quiet quiet;
  const Hdf5Handle access = hdf5_access(storage);  // its end would clear what HDF5 says
  const hid_t id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access);
  if (id < 0 && storage.error != nullptr) {
    std::rethrow_exception(storage.error);
  }
  return hdf5_own(id, "load", "'" + path + "' is no readable HDF5 file");
}

Hdf5Catalog catalog_of(hid_t file, const std::string& path) {
  const Hdf5Quiet quiet;
  return read_hdf5_catalog(file, path);
}

}  // namespace

Hdf5Reader::Hdf5Reader(const std::string& path, std::unique_ptr<File> file)
    : path_(path),
      file_(std::move(file)),
      storage_(*file_),
      id_(open_hdf5(storage_, path)),
      catalog_(catalog_of(id_, path)) {}

void Hdf5Reader::read(const std::string& path, std::span<std::byte> bytes) {
  const ArrayInfo& info = readable(path_, path, bytes.size());
  const std::optional<std::uint64_t> offset =
      catalog_.offsets[static_cast<std::size_t>(&info - catalog_.arrays.data())];
  if (bytes.empty()) {
    return;
  }
  if (offset.has_value()) {
    read_at_offset(*offset, bytes, path);
  } else {
    read_converted(path, bytes);
  }
}

/// Reads aligned pieces, so that the transfers may go round the page cache.
void Hdf5Reader::read_at_offset(std::uint64_t offset, std::span<std::byte> bytes,
                                const std::string& array) {
  const std::uint64_t end = offset + bytes.size();
  const std::uint64_t first = offset / kPiece;
  const auto pieces = static_cast<std::int64_t>((end - 1) / kPiece - first + 1);
  parallel_for(pieces, [&](std::int64_t i) {
    const std::uint64_t piece = (first + static_cast<std::uint64_t>(i)) * kPiece;
    const std::uint64_t from = std::max(piece, offset / kDirectAlignment * kDirectAlignment);
    const std::uint64_t until = std::min(piece + kPiece, end);
    thread_local AlignedBuffer buffer;
    const std::uint64_t wanted = until - from;
    const std::uint64_t rounded =
        (wanted + kDirectAlignment - 1) / kDirectAlignment * kDirectAlignment;
    const std::span<std::byte> held = buffer.resized(rounded);
    check<IoError>(file_->read_at(held, from) >= wanted, "load: '", path_, "' ends inside '", array,
                   "'");
    const std::uint64_t begin = std::max(from, offset);
    std::memcpy(bytes.data() + (begin - offset), held.data() + (begin - from), until - begin);
  });
}

void Hdf5Reader::read_converted(const std::string& path, std::span<std::byte> bytes) {
  const Hdf5Quiet quiet;
  const std::string what = "'" + path_ + "': '" + path + "' cannot be read";
  const Hdf5Handle dataset = hdf5_own(H5Dopen2(id_, path.c_str(), H5P_DEFAULT), "load", what);
  const Hdf5Handle type = hdf5_own(H5Dget_type(dataset), "load", what);
  hdf5_check(H5Dread(dataset, native_hdf5_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()),
             "load", what);
}

std::string Hdf5Reader::arrays_in(std::uint64_t begin, std::uint64_t end) const {
  std::string names;
  for (std::size_t i = 0; i < catalog_.arrays.size(); ++i) {
    const ArrayInfo& info = catalog_.arrays[i];
    const std::uint64_t offset = catalog_.offsets[i].value_or(end);
    if (offset < end && offset + info.nbytes() > begin) {
      names += (names.empty() ? "'" : "; '") + info.path + "'";
    }
  }
  return names;
}

}  // namespace tessera::nn
