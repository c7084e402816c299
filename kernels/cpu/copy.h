// Copies between layouts.
#pragma once

#include <cstddef>

#include <tessera/core/tensor/shape.h>

namespace tessera::cpu {

/// Memory of elements of `size` bytes with strides in elements.
struct StridedBytes {
  char* data = nullptr;
  Strides strides;
};

/// to = from, elements of `shape`; strides of `from` may be 0. They may not overlap.
void copy_strided(const Shape& shape, std::size_t size, const StridedBytes& from,
                  const StridedBytes& to);

}  // namespace tessera::cpu
