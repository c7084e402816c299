#include <algorithm>

#include <tessera/core/base/error.h>
#include <tessera/core/device/allocator.h>
#include <tessera/core/device/thread_pool.h>
#include <tessera/kernels/cpu/gemm_plan.h>
#include <tessera/kernels/cpu/gemm_small.h>
#include <tessera/kernels/cpu/gemm_tile.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/product_library.h>

namespace tessera::cpu {
namespace {

constexpr std::int64_t kFlopsWorthATask = std::int64_t{1} << 19;  // ~5 us: a pool task costs 1

bool is_known(DType t) {
  return t == DType::f32 || t == DType::bf16;
}

void check_gemm(const Gemm& g) {
  check(is_known(g.a.dtype) && is_known(g.b.dtype) && is_known(g.c_dtype) && is_known(g.compute),
        "gemm: dtype not supported; got a ", g.a.dtype, ", b ", g.b.dtype, ", c ", g.c_dtype,
        ", compute ", g.compute, ", expected f32 or bf16");
  check(g.cuts >= 1 && g.k % g.cuts == 0, "gemm: k cannot be cut into equal parts; got k ", g.k,
        ", cuts ", g.cuts, ", expected a divisor");
  check(!g.accumulate || g.c_dtype == DType::f32, "gemm: accumulation into c of dtype ", g.c_dtype,
        "; expected f32");
}

// Packed as [segment][panel][word][row in panel]; `rows` is padded to whole panels. All segments of
// some rows are packed together: by the thread that is likely to multiply these rows.
void pack_rows(GemmBlock& block, std::int64_t rows, std::uint32_t* packed) {
  const Gemm& g = *block.gemm;
  const ProductKernel& kernel = *block.kernel;
  const auto& segments = block.plan->segments;
  const std::int64_t panels = block.rows / kernel.rows;
  constexpr std::int64_t kPanelsPerTask = 8;
  const std::int64_t groups = divide_up(panels, kPanelsPerTask);
  const auto all = static_cast<std::int64_t>(segments.size());
  const auto pack_group = [&](std::int64_t task) {
    const Segment& s = segments[static_cast<std::size_t>(task % all)];
    const std::int64_t first = task / all * kPanelsPerTask * kernel.rows;
    const std::int64_t count = std::min(rows - first, kPanelsPerTask * kernel.rows);
    const std::int64_t at = (block.row + first) * g.a.row_stride + s.begin * g.a.column_stride;
    const char* data =
        static_cast<const char*>(g.a.data) + at * static_cast<std::int64_t>(size_of(g.a.dtype));
    kernel.pack_rows({data, g.a.dtype, g.a.row_stride, g.a.column_stride, count, s.depth},
                     packed + s.offset * block.rows + first * s.words);
  };
  const std::int64_t tasks = groups * all;
  if (rows * g.k < (std::int64_t{1} << 15)) {
    for (std::int64_t i = 0; i < tasks; ++i) {
      pack_group(i);
    }
    return;
  }
  parallel_for(tasks, pack_group);
}

/// Memory that lives as long as a product: it may be large, and is the tensors' again afterwards.
HeldBlock words_for(std::int64_t count) {
  return HeldBlock(static_cast<std::size_t>(count) * sizeof(std::uint32_t));
}

HeldBlock pack_shared_columns(const Gemm& g, const GemmPlan& plan, const ProductKernel& kernel) {
  HeldBlock memory = words_for(round_up(g.n, kernel.columns) * plan.words);
  auto* packed = memory.as<std::uint32_t>();
  const std::int64_t across = divide_up(g.n, plan.tile_columns);
  parallel_for(across * static_cast<std::int64_t>(plan.segments.size()), [&](std::int64_t task) {
    const Segment& s = plan.segments[static_cast<std::size_t>(task / across)];
    const std::int64_t column = task % across * plan.tile_columns;
    const std::int64_t columns = std::min(plan.tile_columns, g.n - column);
    kernel.pack_columns(columns_of(g, s, column, columns),
                        packed + columns_offset(g, kernel, s, column));
  });
  return memory;
}

void run_block(GemmBlock& block, std::int64_t rows) {
  const Gemm& g = *block.gemm;
  const GemmPlan& plan = *block.plan;
  const std::int64_t across = divide_up(g.n, plan.tile_columns);
  const std::int64_t tasks = across * divide_up(rows, plan.tile_rows);
  const auto run_tile = [&](std::int64_t task) {
    const std::int64_t row = task / across * plan.tile_rows;
    const std::int64_t column = task % across * plan.tile_columns;
    gemm_tile(block, row, std::min(plan.tile_rows, rows - row), column,
              std::min(plan.tile_columns, g.n - column));
  };
  if (2 * rows * g.n * g.k < kFlopsWorthATask) {
    for (std::int64_t i = 0; i < tasks; ++i) {
      run_tile(i);
    }
    return;
  }
  parallel_for(tasks, run_tile);
}

}  // namespace

void gemm(const Gemm& g) {
  check_gemm(g);
  if (g.m == 0 || g.n == 0) {
    return;
  }
  const ProductLibrary* products = library_for(g.compute);
  if (products == nullptr && gemm_small(g)) {
    return;
  }
  const ProductTable& table = IsaTable<ProductTable>::get();
  const ProductKernel& kernel = g.compute == DType::bf16 ? table.bf16 : table.f32;
  const GemmPlan plan = products == nullptr ? plan_gemm(g, kernel) : plan_library_gemm(g);
  GemmBlock block{
      .gemm = &g, .plan = &plan, .kernel = &kernel, .table = &table, .products = products};
  HeldBlock columns, panels;
  if (plan.share_columns) {
    columns = pack_shared_columns(g, plan, kernel);
    block.packed_columns = columns.as<std::uint32_t>();
  }
  if (products == nullptr) {
    panels = words_for(round_up(std::min(plan.block_rows, g.m), kernel.rows) * plan.words);
    block.packed_rows = panels.as<std::uint32_t>();
  }
  for (block.row = 0; block.row < g.m; block.row += plan.block_rows) {
    const std::int64_t rows = std::min(plan.block_rows, g.m - block.row);
    block.rows = round_up(rows, kernel.rows);
    if (products == nullptr) {
      pack_rows(block, rows, panels.as<std::uint32_t>());
    }
    run_block(block, rows);
  }
}

void gemm(const GemmBatch& batch) {
  const auto run_one = [&](std::int64_t i) {
    const auto move = [i](const void* p, std::int64_t step, DType t) {
      return static_cast<const char*>(p) + i * step * static_cast<std::int64_t>(size_of(t));
    };
    Gemm g = batch.first;
    g.a.data = move(g.a.data, batch.a_step, g.a.dtype);
    g.b.data = move(g.b.data, batch.b_step, g.b.dtype);
    g.c = const_cast<char*>(move(g.c, batch.c_step, g.c_dtype));
    gemm(g);
  };
  constexpr std::int64_t kEnoughForAllThreads = 8;
  if (batch.count >= kEnoughForAllThreads) {
    parallel_for(batch.count, run_one);
    return;
  }
  for (std::int64_t i = 0; i < batch.count; ++i) {
    run_one(i);
  }
}

}  // namespace tessera::cpu
