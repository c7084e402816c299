#include <algorithm>
#include <concepts>

#include <tessera/core/base/tree.h>
#include <tessera/kernels/cpu/dense_submatrix.h>
#include <tessera/kernels/cpu/gemm_tile.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/ranges.h>
#include <tessera/kernels/cpu/scratch.h>
#include <tessera/kernels/cpu/simd/rows.h>

namespace tessera::cpu {
namespace {

struct Area {
  std::int64_t row, rows, column, columns;
};

template <class Sum>
void add(Sum* to, const Sum* from, std::int64_t count) {
  IsaTable<NormTable>::get().add_of<Sum>()(to, from, count);
}

template <class Sum>
class TileRun {
 public:
  TileRun(const GemmBlock<Sum>& block, const Area& area)
      : block_(block), g_(*block.gemm), kernel_(*block.kernel), area_(area) {
    const bool own = block.products == nullptr;
    stride_ = own ? round_up(area.columns, kernel_.columns) : area.columns;
    size_ = (own ? held_rows(area.rows) : area.rows) * stride_;
    fetched_ = divide_up(kernel_.rows, divide_up(area.columns, kernel_.columns));
  }

  void run();

 private:
  using Word = WordOf<Sum>;
  void run_direct();
  void multiply_in_library(const Segment&, Sum* sums) requires std::same_as<Sum, float>;
  void run_pieces();
  void pack(const Segment&);
  void multiply(const Segment&, Sum* sums, TileSum);
  void multiply_in_place(const Segment&, bool first, bool last);
  void fetch_after(std::int64_t i, std::int64_t j) const;
  [[nodiscard]] Ahead rows_after(const Segment&, const Word* a, std::int64_t i) const;
  void end_piece(bool first_of_cut);
  void end_cut(std::int64_t cut);
  [[nodiscard]] bool joins_neighbour(const Segment&, std::int64_t cut) const;
  void merge_alike(std::int64_t cut);
  void write(const Sum* sums, std::int64_t cut);
  /// The rows that tiles compute where `rows` are wanted.
  [[nodiscard]] std::int64_t held_rows(std::int64_t rows) const {
    return kernel_.any_height ? rows : round_up(rows, kernel_.rows);
  }
  [[nodiscard]] Sum* buffer(std::size_t i) {
    return buffers_ + static_cast<std::int64_t>(i) * size_;
  }
  [[nodiscard]] TileOut<Sum> out_at(std::int64_t row, std::int64_t column) const;

  const GemmBlock<Sum>& block_;
  const Gemm& g_;
  const ProductKernelOf<Sum>& kernel_;
  Area area_;
  std::int64_t stride_ = 0, size_ = 0;
  std::int64_t fetched_ = 0;  // words of A that a register tile brings near beside one of k
  Word* packed_ = nullptr;
  const Word* columns_ = nullptr;  // of B, packed, of the segment in work
  Sum* buffers_ = nullptr;
  TreeSum<Sum*> cuts_;  // the sums that wait, in the first buffers
};

template <class Sum>
void TileRun<Sum>::run() {
  if (block_.products == nullptr && kernel_.begin != nullptr) {
    kernel_.begin();
  }
  std::int64_t most = 0;
  for (const Segment& s : block_.plan->segments) {
    most = std::max(most, s.words);
  }
  if (block_.packed_columns == nullptr && block_.products == nullptr) {
    packed_ = scratch_array<Word>(Scratch::panels, most * stride_);
  }
  if (block_.plan->direct) {
    run_direct();
  } else {
    run_pieces();
  }
}

template <class Sum>
void TileRun<Sum>::pack(const Segment& s) {
  if (block_.products != nullptr) {
    return;
  }
  if (block_.packed_columns != nullptr) {
    columns_ = block_.packed_columns + columns_offset(g_, kernel_, s, area_.column);
    return;
  }
  kernel_.pack_columns(columns_of(g_, s, area_.column, area_.columns), packed_);
  columns_ = packed_;
}

template <class Sum>
TileOut<Sum> TileRun<Sum>::out_at(std::int64_t row, std::int64_t column) const {
  TileOut<Sum> out;
  const std::int64_t at = (block_.row + row) * g_.c_stride + column;
  out.c = static_cast<char*>(g_.c) + at * static_cast<std::int64_t>(size_of(g_.c_dtype));
  out.c_dtype = g_.c_dtype;
  out.c_stride = g_.c_stride;
  out.bias = g_.bias == nullptr ? nullptr : static_cast<const Sum*>(g_.bias) + column;
  out.accumulate = g_.accumulate;
  return out;
}

// Brings the register tile of C that comes after (i, j) near: its sums are read before anything
// else.
template <class Sum>
void TileRun<Sum>::fetch_after(std::int64_t i, std::int64_t j) const {
  j += kernel_.columns;
  if (j >= area_.columns) {
    j = 0;
    i += kernel_.rows;
  }
  const std::int64_t last = std::min(area_.rows, i + kernel_.rows);
  constexpr std::int64_t kLine = 64 / sizeof(Sum);
  const auto* c = static_cast<const Sum*>(out_at(area_.row, area_.column + j).c);
  for (; i < last; ++i) {
    for (std::int64_t at = 0; at < kernel_.columns; at += kLine) {
      __builtin_prefetch(c + i * g_.c_stride + at, 1);
    }
  }
  asm volatile("");  // else GCC may take this for a function without effect, and drop its calls
}

// The register tiles (i, ...) bring the panel of A near that comes after theirs, each its share: it
// is read from memory, and what the hardware fetches by itself ends with a page. This is the share
// of the first; that of the next begins where it ends.
template <class Sum>
Ahead TileRun<Sum>::rows_after(const Segment& s, const Word* a, std::int64_t i) const {
  const Word* next = a + (i + kernel_.rows) * s.words;
  return {reinterpret_cast<const char*>(next), fetched_ * std::int64_t{sizeof(Word)}};
}

// C itself holds the sums; register tiles that hang over its edge go through a buffer.
template <class Sum>
void TileRun<Sum>::multiply_in_place(const Segment& s, bool first, bool last) {
  alignas(64) Sum edge[1024];
  const Word* a = block_.packed_rows + s.offset * block_.rows + area_.row * s.words;
  for (std::int64_t i = 0; i < area_.rows; i += kernel_.rows) {
    const std::int64_t rows = std::min<std::int64_t>(kernel_.rows, area_.rows - i);
    Ahead ahead = rows_after(s, a, i);
    for (std::int64_t j = 0; j < area_.columns; j += kernel_.columns) {
      const std::int64_t columns = std::min<std::int64_t>(kernel_.columns, area_.columns - j);
      TileOut<Sum> out = out_at(area_.row + i, area_.column + j);
      auto* c = static_cast<Sum*>(out.c);
      const bool whole = rows == held_rows(rows) && columns == kernel_.columns;
      Sum* sums = whole ? c : edge;
      const std::int64_t stride = whole ? g_.c_stride : kernel_.columns;
      for (std::int64_t r = 0; !whole && !first && r < rows; ++r) {
        std::copy_n(c + r * g_.c_stride, columns, edge + r * kernel_.columns);
      }
      fetch_after(i, j);
      kernel_.tile(rows, s.words, a + i * s.words, columns_ + j * s.words, sums, stride,
                   first ? TileSum::fresh : TileSum::continued, ahead);
      ahead.data += ahead.step * s.words;
      if (!whole || (last && g_.bias != nullptr)) {
        out.sums = sums;
        out.stride = stride;
        out.rows = rows;
        out.columns = columns;
        out.bias = last ? out.bias : nullptr;
        block_.finish(out);
      }
    }
  }
}

template <class Sum>
void TileRun<Sum>::run_direct() {
  const auto& segments = block_.plan->segments;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    pack(segments[i]);
    multiply_in_place(segments[i], i == 0, i + 1 == segments.size());
  }
}

template <class Sum>
void TileRun<Sum>::multiply_in_library(const Segment& s,
                                       Sum* sums) requires std::same_as<Sum, float> {
  if (s.depth == 0) {
    std::fill_n(sums, size_, Sum(0));
    return;
  }
  const Submatrix a{block_.row + area_.row, area_.rows, s.begin, s.depth};
  const Submatrix b{s.begin, s.depth, area_.column, area_.columns};
  block_.products->multiply({area_.rows, area_.columns, s.depth,
                             dense_submatrix(g_.a, a, g_.compute, Scratch::library_rows),
                             dense_submatrix(g_.b, b, g_.compute, Scratch::panels), sums});
}

template <class Sum>
void TileRun<Sum>::multiply(const Segment& s, Sum* sums, TileSum sum) {
  if constexpr (std::same_as<Sum, float>) {
    if (block_.products != nullptr) {
      multiply_in_library(s, sums);
      return;
    }
  }
  const Word* a = block_.packed_rows + s.offset * block_.rows + area_.row * s.words;
  for (std::int64_t i = 0; i < area_.rows; i += kernel_.rows) {
    const std::int64_t rows = std::min<std::int64_t>(kernel_.rows, area_.rows - i);
    Ahead ahead = rows_after(s, a, i);
    for (std::int64_t j = 0; j < area_.columns; j += kernel_.columns) {
      kernel_.tile(rows, s.words, a + i * s.words, columns_ + j * s.words, sums + i * stride_ + j,
                   stride_, sum, ahead);
      ahead.data += ahead.step * s.words;
    }
  }
}

/// A cut of one segment whose neighbour waits for it is added to that as it is formed.
template <class Sum>
bool TileRun<Sum>::joins_neighbour(const Segment& s, std::int64_t cut) const {
  return kernel_.adds && block_.products == nullptr && !g_.per_microbatch && s.starts_cut &&
         s.ends_cut && cuts_.is_sibling(cut);
}

template <class Sum>
void TileRun<Sum>::run_pieces() {
  std::int64_t levels = 2;  // the piece in the making and its cut
  for (std::int64_t n = g_.cuts; n > 0; n /= 2) {
    ++levels;
  }
  buffers_ = scratch_array<Sum>(Scratch::tiles, levels * size_);
  std::int64_t cut = 0;
  bool cut_begun = false;
  for (const Segment& s : block_.plan->segments) {
    pack(s);
    if (joins_neighbour(s, cut)) {
      multiply(s, cuts_.back(), TileSum::added);
      cuts_.extend(cut);
      merge_alike(cut++);
      continue;
    }
    cut_begun = cut_begun && !s.starts_cut;
    Sum* sums = buffer(cuts_.size() + (cut_begun ? 1 : 0));
    multiply(s, sums, s.starts_piece ? TileSum::fresh : TileSum::continued);
    if (s.ends_piece) {
      end_piece(!cut_begun);
      cut_begun = true;
    }
    if (s.ends_cut) {
      end_cut(cut++);
    }
  }
  if (!g_.per_microbatch) {
    write(buffer(0), 0);
  }
}

template <class Sum>
void TileRun<Sum>::end_piece(bool first_of_cut) {
  if (!first_of_cut) {
    add(buffer(cuts_.size()), buffer(cuts_.size() + 1), size_);
  }
}

template <class Sum>
void TileRun<Sum>::end_cut(std::int64_t cut) {
  if (g_.per_microbatch) {
    write(buffer(0), cut);
    return;
  }
  cuts_.push(cut, buffer(cuts_.size()));
  merge_alike(cut);
}

/// The last merge of all is left to `write`.
template <class Sum>
void TileRun<Sum>::merge_alike(std::int64_t cut) {
  const bool last = cut + 1 == g_.cuts;
  while (last ? cuts_.size() > 2 : cuts_.joins(cut + 1)) {
    cuts_.add_last([this](Sum* into, const Sum* from) { add(into, from, size_); });
  }
}

template <class Sum>
void TileRun<Sum>::write(const Sum* sums, std::int64_t cut) {
  TileOut<Sum> out = out_at(area_.row, area_.column);
  out.c = static_cast<char*>(out.c) +
          cut * g_.cut_stride * static_cast<std::int64_t>(size_of(g_.c_dtype));
  out.sums = sums;
  out.more = cuts_.size() == 2 ? cuts_.back() : nullptr;
  out.stride = stride_;
  out.rows = area_.rows;
  out.columns = area_.columns;
  // Sums of several pieces in f32 are gradients of weights.
  out.past_caches = g_.c_dtype == DType::f32 && !g_.accumulate &&
                    outlives_caches_long(g_.m * g_.n * static_cast<std::int64_t>(sizeof(float)));
  block_.finish(out);
}

}  // namespace

template <class Sum>
void gemm_tile(const GemmBlock<Sum>& block, std::int64_t row, std::int64_t rows,
               std::int64_t column, std::int64_t columns) {
  TileRun<Sum>(block, {row, rows, column, columns}).run();
}

template void gemm_tile(const GemmBlock<float>&, std::int64_t, std::int64_t, std::int64_t,
                        std::int64_t);
template void gemm_tile(const GemmBlock<double>&, std::int64_t, std::int64_t, std::int64_t,
                        std::int64_t);

}  // namespace tessera::cpu
