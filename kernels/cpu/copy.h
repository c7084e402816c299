// Copies between layouts.
#pragma once

#include <cstddef>

#include <tessera/core/tensor/shape.h>

namespace tessera::cpu {

/// Memory and strides, in elements.
struct StridedSource {
  const char* data = nullptr;
  Strides strides;
};
struct StridedTarget {
  char* data = nullptr;
  Strides strides;
};

/// to = from for elements of `shape`, of `size` bytes each; strides of `from` may be 0. They may
/// not overlap.
void copy_strided(const Shape& shape, std::size_t size, const StridedSource& from,
                  const StridedTarget& to);

}  // namespace tessera::cpu
