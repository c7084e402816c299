// Writing a file of arrays as HDF5.
#pragma once

#include <string>

#include <tessera/nn/io/array_file.h>

namespace tessera::nn {

/// Lays the file out in memory, streams the arrays to their offsets by direct transfers, then
/// writes the metadata and the checksum block, and syncs. See write_array_file.
void write_hdf5_file(const std::string& path, const ArrayFileContents& contents);

}  // namespace tessera::nn
