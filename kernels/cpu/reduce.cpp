#include <tessera/kernels/cpu/reduce.h>

#include <algorithm>

#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/ranges.h>
#include <tessera/kernels/cpu/scratch.h>
#include <tessera/kernels/cpu/simd/rows.h>

namespace tessera::cpu {
namespace {

constexpr std::int64_t kBlock = 1024;
constexpr std::int64_t kLongRow = 1 << 18;

/// `run` adds up a block of a row.
template <class Number>
void sum_blocks(Number (*run)(const void*, std::int64_t), DType dtype, const void* x,
                std::int64_t rows, std::int64_t columns, double* sums) {
  const auto bytes = static_cast<std::int64_t>(size_of(dtype));
  const auto block = [&](std::int64_t row, std::int64_t first) {
    return run(static_cast<const char*>(x) + (row * columns + first) * bytes,
               std::min(kBlock, columns - first));
  };
  if (columns < kLongRow) {
    for_ranges(rows, rows_per_task(columns), [&](std::int64_t first, std::int64_t count) {
      for (std::int64_t row = first; row < first + count; ++row) {
        sums[row] = 0;
        for (std::int64_t j = 0; j < columns; j += kBlock) {
          sums[row] += static_cast<double>(block(row, j));
        }
      }
    });
    return;
  }
  const std::int64_t blocks = (columns + kBlock - 1) / kBlock;
  Number* parts = scratch_array<Number>(Scratch::rows, blocks);
  for (std::int64_t row = 0; row < rows; ++row) {  // the blocks of a row are spread, not the rows
    for_ranges(blocks, 64, [&](std::int64_t first, std::int64_t count) {
      for (std::int64_t b = first; b < first + count; ++b) {
        parts[b] = block(row, b * kBlock);
      }
    });
    sums[row] = 0;
    for (std::int64_t b = 0; b < blocks; ++b) {
      sums[row] += static_cast<double>(parts[b]);
    }
  }
}

}  // namespace

void sum_last(DType dtype, const void* x, std::int64_t rows, std::int64_t columns, double* sums) {
  const NormTable& table = IsaTable<NormTable>::get();
  if (dtype == DType::f64) {
    sum_blocks(table.f64.sum_block, dtype, x, rows, columns, sums);
  } else {
    sum_blocks(table.sum_block[dtype == DType::bf16 ? 1 : 0], dtype, x, rows, columns, sums);
  }
}

}  // namespace tessera::cpu
