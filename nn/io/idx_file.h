// IDX files, in which the MNIST digits are kept.
#pragma once

#include <string>

#include <tessera/core/tensor/tensor.h>

namespace tessera::nn {

/// The array in an IDX file: u8, i8, i16, i32, f32 or f64, of any shape. Big-endian: two zero
/// bytes, the dtype, the number of dims, each dim as 32 bits, then the elements (Y. LeCun, C.
/// Cortes and C. J. C. Burges, "The MNIST database of handwritten digits"). Throws IoError naming
/// the file for another kind of file, and for one whose size is not that of its shape, before it
/// takes memory.
[[nodiscard]] Tensor read_idx(const std::string& path);

}  // namespace tessera::nn
