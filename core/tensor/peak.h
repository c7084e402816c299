// What the machine's arithmetic units give: the roof under which a program's speed is judged.
#pragma once

#include <cstdint>

#include <tessera/core/tensor/dtype.h>

namespace tessera {

/// Floating-point operations a second that `threads` threads reach together with multiply-adds out
/// of registers: factors of type `compute` (f32 or bf16), sums in f32. The best that was ever
/// measured: in some 20 ms at the first call, and for a millisecond more at every other, because a
/// neighbour may hold a core for long. 0 means unknown: other types, or no fast kernels in the
/// program.
[[nodiscard]] double peak_flops(DType compute, int threads);

namespace detail {
/// Runs `rounds` rounds of independent multiply-adds and returns the operations done, two for each;
/// 0 when it has no loop for `compute`.
using FlopLoop = double (*)(DType compute, std::int64_t rounds);
/// Fast kernels bring the loop; called before main.
bool set_flop_loop(FlopLoop loop) noexcept;
}  // namespace detail

}  // namespace tessera
