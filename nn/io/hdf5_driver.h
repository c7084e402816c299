// HDF5's file driver of ours: the library's reads and writes go to an object instead of a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include <tessera/core/base/file.h>
#include <tessera/nn/io/hdf5_handle.h>

namespace tessera::nn {

/// Where HDF5's bytes are. Exceptions do not pass through HDF5: the first one is kept in `error`.
class Hdf5Storage {
 public:
  virtual ~Hdf5Storage() = default;
  virtual void read(std::uint64_t offset, std::span<std::byte> bytes) = 0;
  virtual void write(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  /// A new place in the file for metadata or raw data.
  virtual std::uint64_t allocate(bool raw, std::uint64_t size) = 0;
  /// HDF5 grows or shrinks what lies last in the file.
  virtual void set_end(std::uint64_t end) = 0;
  [[nodiscard]] virtual std::uint64_t size() = 0;

  std::exception_ptr error;
};

/// An existing file, read through the file seam.
class Hdf5ReadStorage final : public Hdf5Storage {
 public:
  explicit Hdf5ReadStorage(File& file) : file_(file), size_(file.size()) {}
  void read(std::uint64_t offset, std::span<std::byte> bytes) override;
  void write(std::uint64_t offset, std::span<const std::byte> bytes) override;
  std::uint64_t allocate(bool raw, std::uint64_t size) override;
  void set_end(std::uint64_t) override {}  // only says where the file should end
  std::uint64_t size() override { return size_; }

 private:
  File& file_;
  std::uint64_t size_;
};

/// A new file of which only the metadata is held, in memory: after the user block's place a page
/// for the superblock, which must come first, then room for all arrays, whose size is known
/// beforehand, then the rest of the metadata. Arrays are given places and never written through
/// HDF5.
class Hdf5ImageStorage final : public Hdf5Storage {
 public:
  /// `array_bytes` is what the arrays take when each is rounded up to `kDirectAlignment`.
  Hdf5ImageStorage(std::uint64_t user_block, std::uint64_t array_bytes);
  void read(std::uint64_t offset, std::span<std::byte> bytes) override;
  void write(std::uint64_t offset, std::span<const std::byte> bytes) override;
  std::uint64_t allocate(bool raw, std::uint64_t size) override;
  void set_end(std::uint64_t end) override;
  /// 0 at first: HDF5 begins a new file only where there is none.
  std::uint64_t size() override { return started_ ? arrays_end_ + rest_.size() : 0; }

  /// HDF5 asks for room for long texts as if they were arrays: only while `creating` is raw raw.
  void set_creating_array(bool creating) noexcept { creating_array_ = creating; }
  [[nodiscard]] std::span<const std::byte> superblock() const noexcept { return superblock_; }
  [[nodiscard]] std::span<const std::byte> rest() const noexcept { return rest_; }
  [[nodiscard]] std::uint64_t arrays_begin() const noexcept {
    return user_block_ + kDirectAlignment;
  }
  [[nodiscard]] std::uint64_t arrays_end() const noexcept { return arrays_end_; }

 private:
  std::span<std::byte> held(std::uint64_t offset, std::size_t size);

  std::uint64_t user_block_;
  std::uint64_t next_array_;
  std::uint64_t arrays_end_;
  std::vector<std::byte> superblock_;
  std::vector<std::byte> rest_;
  bool started_ = false;
  bool creating_array_ = false;
};

/// File access properties that lead HDF5 to `storage`, which must outlive the file.
[[nodiscard]] Hdf5Handle hdf5_access(Hdf5Storage& storage);

}  // namespace tessera::nn
