#include <algorithm>

#include <tessera/kernels/cpu/gemm_plan.h>

namespace tessera::cpu {
namespace {

constexpr std::int64_t kBlockWords = std::int64_t{8} << 20;   // packed rows of A: 32 MiB
constexpr std::int64_t kSharedWords = std::int64_t{4} << 20;  // of B, packed whole: 16 MiB
constexpr std::int64_t kTileRows = 528;
constexpr std::int64_t kSummedTileRows = 264;  // tiles that need buffers for partial sums
// Sums of cuts of so little depth are added as often as they are formed: in the first cache.
constexpr std::int64_t kThinCut = 96, kThinTileRows = 48;
constexpr std::int64_t kTileColumns = 128;  // a segment of B is then 192 KiB: well inside L2

// A library packs for itself, and again for every tile: its tiles are larger.
constexpr std::int64_t kLibraryRows = 384, kLibraryColumns = 384;
constexpr std::int64_t kSummedLibraryRows = 192;
// oneDNN begins anew after so much of k where A is transposed, unless A is a single row.
constexpr std::int64_t kLibraryDepth = 1024;

/// What a segment is made of: at most `depth` values of k, packed in runs of `run` values.
struct SegmentSize {
  std::int64_t depth;
  std::int64_t run = 1, words_of_run = 1;
};

void add_piece(GemmPlan& plan, std::int64_t begin, std::int64_t end, const SegmentSize& size) {
  const std::int64_t first = static_cast<std::int64_t>(plan.segments.size());
  std::int64_t k = begin;
  do {
    Segment s;
    s.begin = k;
    s.depth = std::min(end - k, size.depth);
    s.words = divide_up(s.depth, size.run) * size.words_of_run;
    s.offset = plan.words;
    plan.words += s.words;
    plan.segments.push_back(s);
    k += s.depth;
  } while (k < end);
  plan.segments[static_cast<std::size_t>(first)].starts_piece = true;
  plan.segments.back().ends_piece = true;
}

void add_cut(GemmPlan& plan, std::int64_t begin, std::int64_t end, std::int64_t chunk,
             const SegmentSize& size) {
  const std::size_t first = plan.segments.size();
  std::int64_t k = begin;
  do {
    const std::int64_t next = chunk > 0 ? std::min(end, k + chunk) : end;
    add_piece(plan, k, next, size);
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

void add_cuts(GemmPlan& plan, const Gemm& g, std::int64_t chunk, const SegmentSize& size) {
  const std::int64_t part = g.k / g.cuts;
  for (std::int64_t i = 0; i < g.cuts; ++i) {
    add_cut(plan, i * part, (i + 1) * part, chunk, size);
  }
}

bool is_one_piece(const Gemm& g) {
  return g.cuts == 1 && (g.chunk == 0 || g.k <= g.chunk);
}

struct Unit {
  std::int64_t rows, columns;
};

void choose_tiles(GemmPlan& plan, const Gemm& g, Unit most, Unit unit) {
  plan.tile_rows = even_blocks(g.m, most.rows, unit.rows);
  plan.tile_columns = even_blocks(g.n, most.columns, unit.columns);
}

std::int64_t most_rows(const Gemm& g, bool direct) {
  const bool thin = g.cuts > 1 && g.k / g.cuts <= kThinCut;
  return direct ? kTileRows : thin ? kThinTileRows : kSummedTileRows;
}

}  // namespace

template <class Sum>
GemmPlan plan_gemm(const Gemm& g, const ProductKernelOf<Sum>& kernel) {
  GemmPlan plan;
  add_cuts(plan, g, g.chunk,
           {std::int64_t{kernel.words_at_once} * kernel.depth_per_word,
            std::int64_t{kernel.depth_per_word} * kernel.words_of_run, kernel.words_of_run});
  plan.direct = is_one_piece(g) && !g.accumulate && g.c_dtype != DType::bf16;
  choose_tiles(plan, g, {most_rows(g, plan.direct), kTileColumns}, {kernel.rows, kernel.columns});
  plan.share_columns =
      plan.tile_rows < g.m && round_up(g.n, kernel.columns) * plan.words <= kSharedWords;
  const std::int64_t fitting = kBlockWords / std::max<std::int64_t>(1, plan.words);
  plan.block_rows = std::max<std::int64_t>(1, fitting / plan.tile_rows) * plan.tile_rows;
  return plan;
}

template GemmPlan plan_gemm(const Gemm&, const ProductKernelOf<float>&);
template GemmPlan plan_gemm(const Gemm&, const ProductKernelOf<double>&);

GemmPlan plan_library_gemm(const Gemm& g) {
  GemmPlan plan;
  const bool transposed = g.a.column_stride != 1 && g.a.row_stride == 1;
  const std::int64_t chunk = g.chunk > 0 || !transposed ? g.chunk : kLibraryDepth;
  add_cuts(plan, g, chunk, {std::max<std::int64_t>(1, g.k)});
  choose_tiles(plan, g, {is_one_piece(g) ? kLibraryRows : kSummedLibraryRows, kLibraryColumns},
               {1, 1});
  plan.block_rows = std::max<std::int64_t>(1, g.m);
  return plan;
}

PackBlock columns_of(const Gemm& g, const Segment& s, std::int64_t column, std::int64_t columns) {
  const Matrix& b = g.b;
  const std::int64_t at = s.begin * b.row_stride + column * b.column_stride;
  const char* data =
      static_cast<const char*>(b.data) + at * static_cast<std::int64_t>(size_of(b.dtype));
  return {data, b.dtype, b.column_stride, b.row_stride, columns, s.depth};
}

}  // namespace tessera::cpu
