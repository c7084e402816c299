#include <tessera/kernels/cpu/norm.h>

#include <algorithm>

#include <tessera/kernels/cpu/dtype_index.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/ranges.h>
#include <tessera/kernels/cpu/row_sums.h>
#include <tessera/kernels/cpu/scratch.h>
#include <tessera/kernels/cpu/simd/rows.h>

namespace tessera::cpu {
namespace {

/// The bytes of rows of Numbers.
template <class Number>
std::int64_t bytes_in(std::int64_t rows, std::int64_t columns) {
  return rows * columns * static_cast<std::int64_t>(sizeof(Number));
}

auto kernel_for(const NormForward& n) {
  return IsaTable<NormTable>::get().forward[dtype_index(n.dtype)][dtype_index(n.y_dtype)];
}
auto kernel_for(const NormForwardF64&) {
  return IsaTable<NormTable>::get().f64.forward;
}
auto kernel_for(const NormBackward& n) {
  return IsaTable<NormTable>::get().backward[dtype_index(n.dtype)][dtype_index(n.dy_dtype)];
}
auto kernel_for(const NormBackwardF64&) {
  return IsaTable<NormTable>::get().f64.backward;
}

}  // namespace

template <class Number>
void norm_forward(const NormForwardOf<Number>& wanted) {
  NormForwardOf<Number> n = wanted;
  n.past_caches = n.y != n.x && n.y_dtype == dtype_of<Number> &&
                  outlives_caches(bytes_in<Number>(n.rows, n.columns));
  const auto run = kernel_for(n);
  for_ranges(n.rows, rows_per_long_task(n.columns),
             [&](std::int64_t first, std::int64_t count) { run(n, first, count); });
}

template <class Number>
void norm_backward(const NormBackwardOf<Number>& wanted) {
  NormBackwardOf<Number> n = wanted;
  n.past_caches = n.dx != n.dy && n.dx != n.x && n.dtype == dtype_of<Number> &&
                  outlives_caches(bytes_in<Number>(n.rows, n.columns));
  const auto run = kernel_for(n);
  const RowBlocks blocks(n.rows, n.cuts);
  const std::int64_t width = 2 * n.columns;
  Number* sums = scratch_array<Number>(Scratch::rows, blocks.count() * width);
  parallel_for(blocks.count(), [&](std::int64_t block) {
    Number* dscale = sums + block * width;
    std::fill_n(dscale, width, Number(0));
    run(n, blocks.first_row(block), blocks.rows_of(block), n.dscale == nullptr ? nullptr : dscale,
        n.dshift == nullptr ? nullptr : dscale + n.columns);
  });
  if (n.dscale != nullptr) {
    add_blocks(blocks, sums, width, n.columns, n.per_microbatch, n.dscale);
  }
  if (n.dshift != nullptr) {
    add_blocks(blocks, sums + n.columns, width, n.columns, n.per_microbatch, n.dshift);
  }
}

template void norm_forward(const NormForward&);
template void norm_forward(const NormForwardF64&);
template void norm_backward(const NormBackward&);
template void norm_backward(const NormBackwardF64&);

}  // namespace tessera::cpu
