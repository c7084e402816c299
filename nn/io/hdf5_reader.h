// Reading a file of arrays from HDF5.
#pragma once

#include <memory>
#include <string>

#include <tessera/core/base/file.h>
#include <tessera/nn/io/array_file.h>
#include <tessera/nn/io/hdf5_catalog.h>
#include <tessera/nn/io/hdf5_driver.h>

namespace tessera::nn {

/// An open HDF5 file. Contiguous arrays in our byte order are read straight into place, others
/// through HDF5.
class Hdf5Reader final : public ArrayFileReader {
 public:
  /// Opens without comparing checksums. Throws IoError for what is no HDF5 file or holds what
  /// cannot be read: see Hdf5Catalog.
  Hdf5Reader(const std::string& path, std::unique_ptr<File> file);

  const std::vector<ArrayInfo>& arrays() const override { return catalog_.arrays; }
  std::vector<ArrayAttribute> attributes() override { return catalog_.attributes; }
  void read(const std::string& path, std::span<std::byte> bytes) override;

  /// The arrays that lie in bytes [begin, end) of the file, "; " between the names.
  [[nodiscard]] std::string arrays_in(std::uint64_t begin, std::uint64_t end) const;

 private:
  void read_at_offset(std::uint64_t offset, std::span<std::byte> bytes, const std::string& array);
  void read_converted(const std::string& path, std::span<std::byte> bytes);

  std::string path_;
  std::unique_ptr<File> file_;
  Hdf5ReadStorage storage_;
  Hdf5Handle id_;
  Hdf5Catalog catalog_;
};

}  // namespace tessera::nn
