// Reference sums that respect microbatch borders.
#pragma once

#include <cstdint>
#include <vector>

#include <tessera/core/dispatch/kernel.h>

namespace tessera {

/// Adds `parts` blocks of `count` numbers, one after another in `blocks`, along the balanced binary
/// tree over their indices. The sum ends in the first block.
template <class T>
void tree_sum(std::vector<T>& blocks, std::int64_t parts, std::int64_t count) {
  for (std::int64_t step = 1; step < parts; step *= 2) {
    for (std::int64_t left = 0; left + step < parts; left += 2 * step) {
      for (std::int64_t i = 0; i < count; ++i) {
        blocks[static_cast<std::size_t>(left * count + i)] +=
            blocks[static_cast<std::size_t>((left + step) * count + i)];
      }
    }
  }
}

/// Sums input 0 into output 0, whose (dense) offset for an element of the input follows from
/// strides `to`. Each microbatch is summed alone, in row-major order, in double (or int64 or
/// complex), and rounded once; the pieces are then added along the tree in the output's dtype, or
/// written one by one when the kernel asks for them stacked.
void sum_by_microbatch(Kernel& k, const Strides& to);

}  // namespace tessera
