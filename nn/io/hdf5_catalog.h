// What an HDF5 file holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tessera/nn/io/array_file.h>
#include <tessera/nn/io/hdf5_handle.h>

namespace tessera::nn {

/// Names, types and offsets of all arrays of an open file, and all attributes.
struct Hdf5Catalog {
  std::vector<ArrayInfo> arrays;
  /// Where each array's bytes lie when they can be read as they are.
  std::vector<std::optional<std::uint64_t>> offsets;
  std::vector<ArrayAttribute> attributes;
};

/// Walks through the file. What cannot be read is listed with a refusal that names `path` and the
/// object: links that lead elsewhere (soft, external), arrays kept outside the file (external
/// storage, virtual datasets), types that no dtype holds, arrays without a shape or of more than 8
/// dims, filters that HDF5 has not here, groups that contain themselves or lie too deep. Throws
/// IoError for a file whose structure is damaged, or whose groups have 10,000 names too many.
[[nodiscard]] Hdf5Catalog read_hdf5_catalog(hid_t file, const std::string& path);

}  // namespace tessera::nn
