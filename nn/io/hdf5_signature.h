// Where an HDF5 file begins.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include <tessera/core/base/file.h>

namespace tessera::nn {

/// Whether HDF5's own bytes begin at `at`.
inline bool has_hdf5_signature(File& file, std::uint64_t at) {
  constexpr std::array<char, 8> kSignature{'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  std::array<char, 8> found{};
  return file.read_at(std::as_writable_bytes(std::span(found)), at) == found.size() &&
         found == kSignature;
}

}  // namespace tessera::nn
