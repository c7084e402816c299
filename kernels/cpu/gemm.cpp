#include <algorithm>
#include <initializer_list>

#include <tessera/core/base/error.h>
#include <tessera/core/device/allocator.h>
#include <tessera/core/device/thread_pool.h>
#include <tessera/kernels/cpu/gemm_plan.h>
#include <tessera/kernels/cpu/gemm_tile.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/product_library.h>
#include <tessera/kernels/cpu/scratch.h>

namespace tessera::cpu {
namespace {

constexpr std::int64_t kFlopsWorthATask = std::int64_t{1} << 19;  // ~5 us: a pool task costs 1

bool are_known(std::initializer_list<DType> all) {
  const auto is_double = [](DType t) { return t == DType::f64; };
  const auto is_single = [](DType t) { return t == DType::f32 || t == DType::bf16; };
  return std::ranges::all_of(all, is_single) || std::ranges::all_of(all, is_double);
}

void check_gemm(const Gemm& g) {
  check(are_known({g.a.dtype, g.b.dtype, g.c_dtype, g.compute}),
        "gemm: dtype not supported; got a ", g.a.dtype, ", b ", g.b.dtype, ", c ", g.c_dtype,
        ", compute ", g.compute, ", expected f32 or bf16, or all of them f64");
  check(g.cuts >= 1 && g.k % g.cuts == 0, "gemm: k cannot be cut into equal parts; got k ", g.k,
        ", cuts ", g.cuts, ", expected a divisor");
  check(!g.accumulate || g.c_dtype != DType::bf16, "gemm: accumulation into c of dtype ", g.c_dtype,
        "; expected f32 or f64");
}

// Packed as [segment][panel][word][row in panel]; `rows` is padded to whole panels. All segments of
// some rows are packed together: by the thread that is likely to multiply these rows.
template <class Sum>
void pack_rows(const GemmBlock<Sum>& block, std::int64_t rows, WordOf<Sum>* packed) {
  const Gemm& g = *block.gemm;
  const ProductKernelOf<Sum>& kernel = *block.kernel;
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
template <class Word>
HeldMemory words_for(std::int64_t count) {
  return HeldMemory(static_cast<std::size_t>(count) * sizeof(Word));
}

template <class Sum>
HeldMemory pack_shared_columns(const Gemm& g, const GemmPlan& plan,
                               const ProductKernelOf<Sum>& kernel) {
  using Word = WordOf<Sum>;
  HeldMemory memory = words_for<Word>(round_up(g.n, kernel.columns) * plan.words);
  auto* packed = memory.as<Word>();
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

template <class Sum>
void run_block(const GemmBlock<Sum>& block, std::int64_t rows) {
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

/// Block by block of rows of A; where `block.products` computes, nothing is packed.
template <class Sum>
void run_blocks(GemmBlock<Sum>& block) {
  using Word = WordOf<Sum>;
  const Gemm& g = *block.gemm;
  const GemmPlan& plan = *block.plan;
  const bool own = block.products == nullptr;
  HeldMemory columns, panels;
  if (plan.share_columns) {
    columns = pack_shared_columns(g, plan, *block.kernel);
    block.packed_columns = columns.as<Word>();
  }
  if (own) {
    const std::int64_t rows = round_up(std::min(plan.block_rows, g.m), block.kernel->rows);
    panels = words_for<Word>(rows * plan.words);
    block.packed_rows = panels.as<Word>();
  }
  for (block.row = 0; block.row < g.m; block.row += plan.block_rows) {
    const std::int64_t rows = std::min(plan.block_rows, g.m - block.row);
    block.rows = round_up(rows, block.kernel->rows);
    if (own) {
      pack_rows(block, rows, panels.as<Word>());
    }
    run_block(block, rows);
  }
}

template <class Sum>
void run(const Gemm& g, const ProductKernelOf<Sum>& kernel, void (*finish)(const TileOut<Sum>&)) {
  const GemmPlan plan = plan_gemm(g, kernel);
  GemmBlock<Sum> block{.gemm = &g, .plan = &plan, .kernel = &kernel, .finish = finish};
  run_blocks(block);
}

void run_in_library(const Gemm& g, const ProductLibrary& products, const ProductTable& table) {
  const GemmPlan plan = plan_library_gemm(g);
  GemmBlock<float> block{.gemm = &g,
                         .plan = &plan,
                         .kernel = g.compute == DType::bf16 ? &table.bf16 : &table.f32,
                         .finish = table.finish,
                         .products = &products};
  run_blocks(block);
}

// Products so small that packing them and planning tiles would take longer than the sums.
constexpr std::int64_t kMultiplyAdds = std::int64_t{1} << 18;  // ~2 us

bool is_plain(const Gemm& g) {
  return g.a.dtype == DType::f32 && g.b.dtype == DType::f32 && g.c_dtype == DType::f32 &&
         g.compute == DType::f32 && g.cuts == 1 && (g.chunk == 0 || g.k <= g.chunk) &&
         !g.accumulate;
}

bool is_small(const Gemm& g, const ProductKernel& kernel) {
  return g.m * g.n * g.k < kMultiplyAdds && g.n % kernel.columns == 0 &&
         (g.b.column_stride == 1 || g.b.row_stride == 1);
}

/// Multiplies with B as it lies where its rows are contiguous; else a panel of it at a time is
/// packed, which stays in the first cache.
void multiply(const Gemm& g, const ProductTable& table) {
  const ProductKernel& kernel = table.f32;
  SmallProduct p{.m = g.m, .n = g.n, .k = g.k};
  p.a = static_cast<const float*>(g.a.data);
  p.a_row = g.a.row_stride, p.a_step = g.a.column_stride;
  p.b = static_cast<const float*>(g.b.data);
  p.b_step = g.b.row_stride, p.b_panel = kernel.columns;
  p.c = static_cast<float*>(g.c), p.c_stride = g.c_stride;
  if (g.b.column_stride == 1) {
    table.small(p);
    return;
  }
  auto* packed = scratch_array<std::uint32_t>(Scratch::panels, kernel.columns * g.k);
  PackBlock block{.data = g.b.data,
                  .dtype = g.b.dtype,
                  .width_stride = g.b.column_stride,
                  .depth_stride = g.b.row_stride,
                  .width = kernel.columns,
                  .depth = g.k};
  p.n = kernel.columns;
  p.b = reinterpret_cast<const float*>(packed);
  p.b_step = kernel.columns;
  for (std::int64_t j = 0; j < g.n; j += kernel.columns) {
    kernel.pack_columns(block, packed);
    table.small(p);
    block.data = static_cast<const float*>(block.data) + kernel.columns * g.b.column_stride;
    p.c += kernel.columns;
  }
}

/// Carries out a small product of f32 on this thread, with the bits of the long way. False, and
/// nothing done, for others.
bool gemm_small(const Gemm& g) {
  const ProductTable& table = IsaTable<ProductTable>::get();
  if (!is_plain(g) || !is_small(g, table.f32)) {
    return false;
  }
  multiply(g, table);
  if (g.bias != nullptr) {
    table.finish({.sums = static_cast<const float*>(g.c),
                  .stride = g.c_stride,
                  .rows = g.m,
                  .columns = g.n,
                  .bias = static_cast<const float*>(g.bias),
                  .c = g.c,
                  .c_dtype = DType::f32,
                  .c_stride = g.c_stride});
  }
  return true;
}

}  // namespace

void gemm(const Gemm& g) {
  check_gemm(g);
  if (g.m == 0 || g.n == 0) {
    return;
  }
  const ProductTable& table = IsaTable<ProductTable>::get();
  if (const ProductLibrary* products = library_for(g.compute)) {
    run_in_library(g, *products, table);
  } else if (g.compute == DType::f64) {
    run(g, table.f64, table.finish_f64);
  } else if (!gemm_small(g)) {
    run(g, g.compute == DType::bf16 ? table.bf16 : table.f32, table.finish);
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
