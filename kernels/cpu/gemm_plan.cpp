#include <algorithm>

#include <tessera/kernels/cpu/gemm_plan.h>

namespace tessera::cpu {
namespace {

constexpr std::int64_t kSegmentWords =
    384;  // a panel of B is then 48 KiB: fewer passes over C pay more
constexpr std::int64_t kBlockWords = std::int64_t{8} << 20;  // packed rows of A: 32 MiB
constexpr std::int64_t kTileRows = 528;
constexpr std::int64_t kSummedTileRows = 264;  // tiles that need buffers for partial sums
constexpr std::int64_t kTileColumns = 128;     // a segment of B is then 192 KiB: well inside L2

void add_piece(GemmPlan& plan, std::int64_t begin, std::int64_t end, int depth_per_word) {
  const std::int64_t first = static_cast<std::int64_t>(plan.segments.size());
  std::int64_t k = begin;
  do {
    Segment s;
    s.begin = k;
    s.depth = std::min(end - k, kSegmentWords * depth_per_word);
    s.words = divide_up(s.depth, depth_per_word);
    s.offset = plan.words;
    plan.words += s.words;
    plan.segments.push_back(s);
    k += s.depth;
  } while (k < end);
  plan.segments[static_cast<std::size_t>(first)].starts_piece = true;
  plan.segments.back().ends_piece = true;
}

void add_cut(GemmPlan& plan, std::int64_t begin, std::int64_t end, std::int64_t chunk,
             int depth_per_word) {
  const std::size_t first = plan.segments.size();
  std::int64_t k = begin;
  do {
    const std::int64_t next = chunk > 0 ? std::min(end, k + chunk) : end;
    add_piece(plan, k, next, depth_per_word);
    k = next;
  } while (k < end);
  plan.segments[first].starts_cut = true;
  plan.segments.back().ends_cut = true;
}

/// Equal blocks of at most `most`, multiples of `unit`.
std::int64_t even_blocks(std::int64_t total, std::int64_t most, std::int64_t unit) {
  const std::int64_t blocks = std::max<std::int64_t>(1, divide_up(total, most));
  return std::max(unit, round_up(divide_up(total, blocks), unit));
}

}  // namespace

GemmPlan plan_gemm(const Gemm& g, const ProductKernel& kernel) {
  GemmPlan plan;
  const std::int64_t part = g.k / g.cuts;
  for (std::int64_t i = 0; i < g.cuts; ++i) {
    add_cut(plan, i * part, (i + 1) * part, g.chunk, kernel.depth_per_word);
  }
  const bool one_piece = g.cuts == 1 && (g.chunk == 0 || g.k <= g.chunk);
  plan.direct = one_piece && !g.accumulate && g.c_dtype == DType::f32;
  const std::int64_t most_rows = plan.direct ? kTileRows : kSummedTileRows;
  plan.tile_rows = even_blocks(g.m, most_rows, kernel.rows);
  plan.tile_columns = even_blocks(g.n, kTileColumns, kernel.columns);
  const std::int64_t fitting = kBlockWords / std::max<std::int64_t>(1, plan.words);
  plan.block_rows = std::max<std::int64_t>(1, fitting / plan.tile_rows) * plan.tile_rows;
  return plan;
}

}  // namespace tessera::cpu
