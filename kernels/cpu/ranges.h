// Spreading elementwise and row work over the thread pool in pieces of fixed size.
#pragma once

#include <algorithm>
#include <cstdint>

#include <tessera/core/device/thread_pool.h>

namespace tessera::cpu {

/// Calls `body(begin, count)` on consecutive ranges of [0, total), at most `step` long each.
template <class Body>
void for_ranges(std::int64_t total, std::int64_t step, Body&& body) {
  if (total <= step) {
    if (total > 0) {
      body(std::int64_t{0}, total);
    }
    return;
  }
  parallel_for((total + step - 1) / step,
               [&](std::int64_t i) { body(i * step, std::min(step, total - i * step)); });
}

/// Elements of a task of an elementwise kernel.
inline constexpr std::int64_t kElementwiseStep = 32768;

/// Rows of `columns` elements in blocks of about 64 KiB of f32.
[[nodiscard]] constexpr std::int64_t rows_per_task(std::int64_t columns) {
  return std::max<std::int64_t>(1, std::int64_t{16384} / std::max<std::int64_t>(1, columns));
}

/// Rows in blocks of about 256 KiB of f32, for kernels that overlap a row with its neighbours.
[[nodiscard]] constexpr std::int64_t rows_per_long_task(std::int64_t columns) {
  return std::max<std::int64_t>(1, std::int64_t{65536} / std::max<std::int64_t>(1, columns));
}

/// True for results so large that their beginning has left the caches before anyone reads it: they
/// are written past the caches.
[[nodiscard]] constexpr bool outlives_caches(std::int64_t bytes) {
  return bytes >= std::int64_t{24} << 20;
}

/// True for results so large that they leave the caches where nobody reads them before much else
/// has been computed, such as gradients of weights and what backward needs of forward.
[[nodiscard]] constexpr bool outlives_caches_long(std::int64_t bytes) {
  return bytes >= std::int64_t{4} << 20;
}

}  // namespace tessera::cpu
