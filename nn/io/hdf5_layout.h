// The HDF5 objects of a file to be written: groups, arrays with their offsets, links, attributes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tessera/nn/io/array_file.h>
#include <tessera/nn/io/hdf5_driver.h>

namespace tessera::nn {

/// An HDF5 file in the making, without the arrays' bytes.
class Hdf5Layout {
 public:
  /// Creates everything that `contents` names. `path` serves messages only.
  Hdf5Layout(Hdf5ImageStorage& storage, std::uint64_t user_block, const ArrayFileContents& contents,
             const std::string& path);

  /// Where the bytes of each array go, in the order of the contents; none for an empty array and
  /// for one more name.
  [[nodiscard]] const std::vector<std::optional<std::uint64_t>>& offsets() const noexcept {
    return offsets_;
  }
  void set_checksum(const std::string& array, std::uint64_t hash);
  /// Completes the metadata in the storage.
  void close();

 private:
  void ensure_group(const std::string& path);
  void ensure_parent(const std::string& path);
  void add_array(const ArraySource& array);
  void add_name(const ArraySource& alias);
  void add_attribute(const ArrayAttribute& attribute);

  Hdf5ImageStorage& storage_;
  std::string path_;
  Hdf5Handle file_;
  Hdf5Handle group_properties_;
  Hdf5Handle array_properties_;
  std::vector<std::string> groups_;
  std::vector<std::optional<std::uint64_t>> offsets_;
};

}  // namespace tessera::nn
