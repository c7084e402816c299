// HDF5's types for our dtypes, as h5py knows them.
#pragma once

#include <optional>
#include <string>

#include <tessera/core/tensor/dtype.h>
#include <tessera/nn/io/hdf5_handle.h>

namespace tessera::nn {

/// The type in files, little-endian: bool as h5py's enum of FALSE and TRUE, complex as its compound
/// of r and i, bf16 as unsigned 16-bit words, which an attribute tells from integers.
[[nodiscard]] Hdf5Handle hdf5_type(DType dtype);

/// The dtype that holds `type`, if one does; bf16 also for a 16-bit floating-point type of 8
/// exponent and 7 mantissa bits. `exact`: the file's bytes are the array's; otherwise HDF5 has to
/// convert (the other byte order).
struct Hdf5TypeMatch {
  DType dtype = DType::f32;
  bool exact = true;
};
[[nodiscard]] std::optional<Hdf5TypeMatch> match_hdf5_type(hid_t type);

/// `type` in words, as numpy calls it where it does: "uint16", "text", "compound of x, y".
[[nodiscard]] std::string describe_hdf5_type(hid_t type);

/// `type` in our byte order: what a number of a file is converted to.
[[nodiscard]] Hdf5Handle native_hdf5_type(hid_t type);

}  // namespace tessera::nn
