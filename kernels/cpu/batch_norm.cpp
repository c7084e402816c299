#include <tessera/kernels/cpu/batch_norm.h>

#include <algorithm>

#include <tessera/kernels/cpu/dtype_index.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/ranges.h>
#include <tessera/kernels/cpu/simd/batch_norm.h>

namespace tessera::cpu {
namespace {

/// Channels of a task: where a channel's values do not follow each other, at least whole lines.
template <class Norm>
std::int64_t channels_per_task(const Norm& n) {
  constexpr std::int64_t kLine = 64;
  const std::int64_t some = rows_per_long_task(n.batch * n.inner);
  return n.inner == 1 ? std::max(kLine, some / kLine * kLine) : some;
}

template <class Norm, class Run>
void run_channels(const Norm& n, Run* run) {
  for_ranges(n.channels, channels_per_task(n),
             [&](std::int64_t first, std::int64_t count) { run(n, first, count); });
}

}  // namespace

void batch_norm_forward(const BatchNormForward& n) {
  const auto& table = IsaTable<BatchNormTable>::get();
  run_channels(n, table.forward[dtype_index(n.dtype)][dtype_index(n.y_dtype)]);
}
void batch_norm_forward(const BatchNormForwardF64& n) {
  run_channels(n, IsaTable<BatchNormTable>::get().forward_f64);
}

void batch_norm_backward(const BatchNormBackward& n) {
  const auto& table = IsaTable<BatchNormTable>::get();
  run_channels(n, table.backward[dtype_index(n.dtype)][dtype_index(n.dy_dtype)]);
}
void batch_norm_backward(const BatchNormBackwardF64& n) {
  run_channels(n, IsaTable<BatchNormTable>::get().backward_f64);
}

}  // namespace tessera::cpu
