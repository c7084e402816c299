#include <algorithm>
#include <utility>

#include <tessera/nn/io/hdf5_driver.h>

namespace tessera::nn {
namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t step) {
  return (value + step - 1) / step * step;
}

}  // namespace

void Hdf5ReadStorage::read(std::uint64_t offset, std::span<std::byte> bytes) {
  const std::size_t got = file_.read_at(bytes, offset);
  std::ranges::fill(bytes.subspan(got), std::byte{0});  // HDF5 may read beyond a file's end
}

void Hdf5ReadStorage::write(std::uint64_t, std::span<const std::byte>) {
  fail<InternalError>("hdf5: a file opened for reading was written");
}

std::uint64_t Hdf5ReadStorage::allocate(bool, std::uint64_t) {
  fail<InternalError>("hdf5: a file opened for reading was to grow");
}

Hdf5ImageStorage::Hdf5ImageStorage(std::uint64_t user_block, std::uint64_t array_bytes)
    : user_block_(user_block),
      next_array_(arrays_begin()),
      arrays_end_(arrays_begin() + array_bytes),
      superblock_(kDirectAlignment) {}

std::span<std::byte> Hdf5ImageStorage::held(std::uint64_t offset, std::size_t size) {
  const bool first = offset < arrays_begin();
  std::vector<std::byte>& part = first ? superblock_ : rest_;
  const std::uint64_t begin = first ? user_block_ : arrays_end_;
  const bool inside = offset >= begin && offset - begin + size <= part.size();
  check<InternalError>(inside, "hdf5: metadata outside its place; got offset ", offset);
  return std::span(part).subspan(offset - begin, size);
}

void Hdf5ImageStorage::read(std::uint64_t offset, std::span<std::byte> bytes) {
  std::ranges::copy(held(offset, bytes.size()), bytes.begin());
}

void Hdf5ImageStorage::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  std::ranges::copy(bytes, held(offset, bytes.size()).begin());
}

void Hdf5ImageStorage::set_end(std::uint64_t end) {
  if (end >= arrays_end_) {  // at first it sets the end of the user block
    rest_.resize(end - arrays_end_);
  }
}

std::uint64_t Hdf5ImageStorage::allocate(bool raw, std::uint64_t size) {
  if (!std::exchange(started_, true)) {
    return user_block_;
  }
  if (raw && creating_array_) {
    const std::uint64_t place = next_array_;
    next_array_ += round_up(size, kDirectAlignment);
    return place;
  }
  const std::uint64_t place = arrays_end_ + rest_.size();
  rest_.resize(rest_.size() + round_up(size, 8));
  return place;
}

}  // namespace tessera::nn
