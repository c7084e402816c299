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

/// Of the input in f32.
template <class Norm>
std::int64_t bytes_of(const Norm& n) {
  return n.rows * n.columns * static_cast<std::int64_t>(sizeof(float));
}

}  // namespace

void norm_forward(const NormForward& wanted) {
  NormForward n = wanted;
  n.past_caches = n.y != n.x && n.y_dtype == DType::f32 && outlives_caches(bytes_of(n));
  const auto run = IsaTable<NormTable>::get().forward[dtype_index(n.dtype)][dtype_index(n.y_dtype)];
  for_ranges(n.rows, rows_per_long_task(n.columns),
             [&](std::int64_t first, std::int64_t count) { run(n, first, count); });
}

void norm_backward(const NormBackward& wanted) {
  NormBackward n = wanted;
  n.past_caches =
      n.dx != n.dy && n.dx != n.x && n.dtype == DType::f32 && outlives_caches(bytes_of(n));
  const auto run =
      IsaTable<NormTable>::get().backward[dtype_index(n.dtype)][dtype_index(n.dy_dtype)];
  const RowBlocks blocks(n.rows, n.cuts);
  const std::int64_t width = 2 * n.columns;
  float* sums = scratch_array<float>(Scratch::rows, blocks.count() * width);
  parallel_for(blocks.count(), [&](std::int64_t block) {
    float* dscale = sums + block * width;
    std::fill_n(dscale, width, 0.0F);
    run(n, blocks.first_row(block), blocks.rows_of(block), n.dscale == nullptr ? nullptr : dscale,
        n.dshift == nullptr ? nullptr : dscale + n.columns);
  });
  if (n.dscale != nullptr) {
    add_blocks(blocks, sums, width, n.columns, n.stacked, n.dscale);
  }
  if (n.dshift != nullptr) {
    add_blocks(blocks, sums + n.columns, width, n.columns, n.stacked, n.dshift);
  }
}

}  // namespace tessera::cpu
