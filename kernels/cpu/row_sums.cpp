#include <tessera/kernels/cpu/row_sums.h>

#include <algorithm>

#include <tessera/core/base/tree.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/ranges.h>
#include <tessera/kernels/cpu/scratch.h>
#include <tessera/kernels/cpu/simd/rows.h>

namespace tessera::cpu {

RowBlocks::RowBlocks(std::int64_t rows, std::int64_t cuts_in, std::int64_t height_in)
    : cuts(cuts_in),
      height(height_in),
      rows_per_cut(rows / cuts_in),
      blocks_per_cut(std::max<std::int64_t>(1, (rows_per_cut + height - 1) / height)) {
  check(rows % cuts == 0, "sum over rows: cannot be cut into equal parts; got ", rows,
        " rows, cuts ", cuts, ", expected a divisor");
}

namespace {

/// Columns that a task takes: those of all cuts stay in its caches.
constexpr std::int64_t kColumnsPerTask = 1024;

template <class Number>
using Add = void (*)(Number*, const Number*, std::int64_t);

/// Adds `parts` runs of `count` numbers, `stride` apart, along the tree; the sum ends in the first.
template <class Number>
void add_tree(Add<Number> add, Number* runs, std::int64_t parts, std::int64_t stride,
              std::int64_t count) {
  add_along_tree(parts, [&](std::int64_t into, std::int64_t from) {
    add(runs + into * stride, runs + from * stride, count);
  });
}

auto rows_adder(DType dtype, const float* /*of_such_sums*/) {
  return IsaTable<NormTable>::get().sum_rows[dtype == DType::bf16 ? 1 : 0];
}
auto rows_adder(DType /*f64*/, const double* /*of_such_sums*/) {
  return IsaTable<NormTable>::get().f64.sum_rows;
}

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

template <class Number>
void add_blocks(const RowBlocks& blocks, Number* sums, std::int64_t stride, std::int64_t columns,
                bool per_microbatch, Number* out) {
  const Add<Number> add = IsaTable<NormTable>::get().add_of<Number>();
  const std::int64_t cut_stride = blocks.blocks_per_cut * stride;
  for_ranges(columns, kColumnsPerTask, [&](std::int64_t first, std::int64_t count) {
    Number* part = sums + first;
    for (std::int64_t cut = 0; cut < blocks.cuts; ++cut) {
      for (std::int64_t b = 1; b < blocks.blocks_per_cut; ++b) {
        add(part + cut * cut_stride, part + cut * cut_stride + b * stride, count);
      }
      if (per_microbatch) {
        std::copy_n(part + cut * cut_stride, count, out + cut * columns + first);
      }
    }
    if (!per_microbatch) {
      add_tree(add, part, blocks.cuts, cut_stride, count);
      std::copy_n(part, count, out + first);
    }
  });
}

template <class Number>
void add_microbatches(const Number* x, std::int64_t microbatches, std::int64_t columns,
                      Number* out) {
  const Add<Number> add = IsaTable<NormTable>::get().add_of<Number>();
  for_ranges(columns, kColumnsPerTask, [&](std::int64_t first, std::int64_t count) {
    auto* runs = scratch_array<Number>(Scratch::rows, microbatches * count);
    for (std::int64_t m = 0; m < microbatches; ++m) {
      std::copy_n(x + m * columns + first, count, runs + m * count);
    }
    add_tree(add, runs, microbatches, count, count);
    std::copy_n(runs, count, out + first);
  });
}

template <class Number>
void sum_rows(DType dtype, const void* x, std::int64_t rows, std::int64_t columns,
              std::int64_t cuts, bool per_microbatch, Number* out) {
  const auto run = rows_adder(dtype, out);
  const RowBlocks blocks(rows, cuts);
  auto* sums = scratch_array<Number>(Scratch::rows, blocks.count() * columns);
  const auto row_bytes = columns * static_cast<std::int64_t>(size_of(dtype));
  parallel_for(blocks.count(), [&](std::int64_t block) {
    run(static_cast<const char*>(x) + blocks.first_row(block) * row_bytes, blocks.rows_of(block),
        columns, sums + block * columns);
  });
  add_blocks(blocks, sums, columns, columns, per_microbatch, out);
}

void sum_last(DType dtype, const void* x, std::int64_t rows, std::int64_t columns, double* sums) {
  const NormTable& table = IsaTable<NormTable>::get();
  if (dtype == DType::f64) {
    sum_blocks(table.f64.sum_block, dtype, x, rows, columns, sums);
  } else {
    sum_blocks(table.sum_block[dtype == DType::bf16 ? 1 : 0], dtype, x, rows, columns, sums);
  }
}

template void add_blocks(const RowBlocks&, float*, std::int64_t, std::int64_t, bool, float*);
template void add_blocks(const RowBlocks&, double*, std::int64_t, std::int64_t, bool, double*);
template void add_microbatches(const float*, std::int64_t, std::int64_t, float*);
template void add_microbatches(const double*, std::int64_t, std::int64_t, double*);
template void sum_rows(DType, const void*, std::int64_t, std::int64_t, std::int64_t, bool, float*);
template void sum_rows(DType, const void*, std::int64_t, std::int64_t, std::int64_t, bool, double*);

}  // namespace tessera::cpu
