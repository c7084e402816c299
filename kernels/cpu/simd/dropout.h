// Serial dropout, as each instruction set has it.
#pragma once

#include <cstdint>

#include <tessera/kernels/cpu/dropout.h>

namespace tessera::cpu {

struct DropoutTable {
  /// Elements `first` to first + count - 1 of one sample, which begin at x and y. Index:
  /// kind_index.
  void (*run[3])(const void* x, void* y, std::int64_t count, const DropoutStream&,
                 std::uint64_t first);
};

}  // namespace tessera::cpu
