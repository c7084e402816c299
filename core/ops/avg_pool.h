// Averages of windows.
#pragma once

#include <tessera/core/ops/support/pooling.h>
#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// How averages are taken; dilation is none.
struct AvgPooling {
  Dims kernel{1};
  Dims stride{};               ///< empty: that of the kernel
  Dims padding{0};             ///< zeros at both ends, at most half a window
  bool ceil_mode = false;      ///< a last window may reach beyond the padding
  bool counts_padding = true;  ///< the zeros count in the size of a window
  std::int64_t divisor = 0;    ///< of a window's sum, in place of its size
};

/// x (N, C, in...) -> (N, C, out...), with out as max_pool has it.
[[nodiscard]] Tensor avg_pool(const Tensor& x, const AvgPooling& options);

/// x (N, C, in...) -> (N, C, size...): averages of windows that cover x evenly. `size` has a number
/// for each spatial dim, or one for all.
[[nodiscard]] Tensor adaptive_avg_pool(const Tensor& x, const Dims& size);

}  // namespace tessera
