// What forward and backward attention share: packing of tiles, products of tiles, scores.
// After simd/begin.h.
#pragma once

#include <cstdint>
#include <cstring>

#include <tessera/kernels/cpu/simd/math.h>
#include <tessera/kernels/cpu/simd/math_f64.h>
#include <tessera/kernels/cpu/simd/matrix/attention.h>
#include <tessera/kernels/cpu/simd/matrix/pack.h>
#include <tessera/kernels/cpu/simd/matrix/tile.h>
#include <tessera/kernels/cpu/simd/philox.h>
#if TESSERA_ISA_LEVEL == 4
#include <tessera/kernels/cpu/simd/matrix/amx_tile.h>
#endif

namespace tessera::cpu::TESSERA_ISA {

inline constexpr std::int64_t kTile = kAttentionTile;

/// Products of blocks by vectors, of factors that `Words` hold.
template <class WordsOf, class Product, class Number = float>
struct VectorArithmetic {
  using Words = WordsOf;
  static constexpr int kColumns = kTileVectors * kLanesOf<Number>;
#if TESSERA_ISA_LEVEL >= 2
  static constexpr int kRows = 8;  // divides the tile; 16 sums hide the latency
#else
  static constexpr int kRows = 4;
#endif
  static constexpr int kRun = 1;
  /// Where a row and a step of a left factor lie that is the transpose of a tile.
  static constexpr std::int64_t kTransposedRow = 1, kTransposedStep = kTile;

  static void begin() {}
  /// c[kRows, kColumns] = or += left · right; the arguments are those of multiply_tile.
  [[gnu::always_inline]] static void block(std::int64_t words, const Number* left,
                                           std::int64_t row_stride, std::int64_t step_stride,
                                           const Number* right, Number* c, std::int64_t stride,
                                           bool add) {
    multiply_tile<Product, kRows>(words, left, row_stride, step_stride, right, kColumns, c, stride,
                                  add);
  }
  /// Steps k, k + 1, ... of the transpose of a tile: rows of the tile.
  static void transpose_tile(const Number* tile, Number* out) {
    for (std::int64_t k = 0; k < kTile; k += Words::kDepth) {
      for (std::int64_t j = 0; j < kTile; j += kLanes) {
        store(out + k / Words::kDepth * kTile + j,
              Words::across(tile + k * kTile + j, tile + (k + 1) * kTile + j, kLanes));
      }
    }
  }
};

#if TESSERA_ISA_LEVEL == 4
/// Products of blocks by tile registers.
struct AmxArithmetic {
  using Words = PairWords;
  static constexpr int kRows = 2 * kAmxRows, kRun = kAmxWords, kColumns = kTileColumns;
  static constexpr std::int64_t kTransposedRow = kTile / Words::kDepth, kTransposedStep = 1;

  static void begin() { begin_amx(); }
  static void block(std::int64_t words, const float* left, std::int64_t row_stride, std::int64_t,
                    const float* right, float* c, std::int64_t stride, bool add) {
    multiply_amx<2 * kAmxRows>(
        words, {reinterpret_cast<const std::uint32_t*>(left), row_stride, kAmxWords},
        reinterpret_cast<const std::uint32_t*>(right), c, stride, add);
  }
  static void transpose_tile(const float* tile, float* out) {
    for (std::int64_t j = 0; j < kTile; j += kLanes) {
      for (std::int64_t word = 0; word < kTransposedRow; word += kLanes) {
        VF r[kLanes];
        for (int i = 0; i < kLanes; ++i) {
          const float* row = tile + (word + i) * Words::kDepth * kTile + j;
          r[i] = Words::across(row, row + kTile, kLanes);
        }
        transpose(r);
        for (int i = 0; i < kLanes; ++i) {
          store(out + (j + i) * kTransposedRow + word, r[i]);
        }
      }
    }
  }
};
#endif

/// How attention multiplies values of type T.
template <class T>
struct ArithmeticOf {
  using Type = VectorArithmetic<PlainWords, PlainProduct>;
};
template <>
struct ArithmeticOf<double> {
  using Type = VectorArithmetic<PlainWords, DoubleProduct, double>;
};
#if TESSERA_ISA_LEVEL >= 3
template <>
struct ArithmeticOf<BFloat16> {
#if TESSERA_ISA_LEVEL == 4
  using Type = AmxArithmetic;
#else
  using Type = VectorArithmetic<PairWords, PairProduct>;
#endif
};
#endif

/// Hands out parts of one block of working memory.
template <class Number>
class Carver {
 public:
  explicit Carver(Number* memory) : next_(memory) {}
  Number* take(std::int64_t count) {
    Number* p = next_;
    next_ += (count + 15) / 16 * 16;
    return p;
  }

 private:
  Number* next_;
};

/// Words of depth and columns that a block of rows of a product needs.
struct Extent {
  std::int64_t begin, end, columns;
};

/// Which keys of a tile the queries of a tile see before the diagonal: query i those below i +
/// ahead. Products take blocks of `rows` queries.
struct Diagonal {
  std::int64_t ahead, rows;

  Diagonal(const Attention& a, std::int64_t query_tile, std::int64_t key_tile, std::int64_t rows_in)
      : ahead(a.causal ? (query_tile - key_tile) * kTile + a.causal_offset + 1 : 2 * kTile),
        rows(rows_in) {}

  static std::int64_t inside(std::int64_t n) { return n < 0 ? 0 : (n < kTile ? n : kTile); }
  /// Keys that some query of the block from i on sees.
  [[nodiscard]] std::int64_t keys(std::int64_t i) const { return inside(i + rows - 1 + ahead); }
  /// The first query that sees some key of the block from j on.
  [[nodiscard]] std::int64_t first_query(std::int64_t j) const { return inside(j + 1 - ahead); }
};

template <class T>
struct TileMath {
  using Arithmetic = typename ArithmeticOf<T>::Type;
  using Words = typename Arithmetic::Words;
  using Number = NumberOf<T>;
  static constexpr int kDepth = Words::kDepth, kRun = Arithmetic::kRun;
  static constexpr int kColumns = Arithmetic::kColumns, kStep = kLanesOf<T>;

  /// Words of k: whole runs.
  static constexpr std::int64_t words_of(std::int64_t depth) {
    return (depth + kRun * kDepth - 1) / (kRun * kDepth) * kRun;
  }
  /// Words of one row of a left factor: whole vectors.
  static constexpr std::int64_t row_words(std::int64_t depth) {
    return (words_of(depth) + kStep - 1) / kStep * kStep;
  }
  static constexpr std::int64_t padded(std::int64_t columns) {
    return (columns + kColumns - 1) / kColumns * kColumns;
  }

  /// Rows as a left factor [kTile][row_words(depth)]; missing rows are zeros.
  static void pack_left(const T* src, std::int64_t stride, std::int64_t rows, std::int64_t depth,
                        Number* out) {
    const std::int64_t words = row_words(depth);
    for (std::int64_t i = 0; i < kTile; ++i) {
      for (std::int64_t w = 0; w < words; w += kStep) {
        const std::int64_t k = w * kDepth;
        store(out + i * words + w,
              i < rows ? Words::along(src + i * stride + k, depth - k) : VectorOf<T>{});
      }
    }
  }
  /// Rows as columns of a right factor: out[depth][kTile].
  static void pack_columns(const T* src, std::int64_t stride, std::int64_t rows, std::int64_t depth,
                           Number* out) {
    std::memset(out, 0, static_cast<std::size_t>(words_of(depth) * kTile) * sizeof(Number));
    pack_block({src, dtype_of<T>, stride, 1, rows, depth}, out);
  }
  /// Rows as rows of a right factor: out[rows][padded(columns)].
  static void pack_rows(const T* src, std::int64_t stride, std::int64_t rows, std::int64_t columns,
                        Number* out) {
    pack_block({src, dtype_of<T>, 1, stride, columns, rows}, out);
  }
  static void pack_block(const PackBlock& block, Number* out) {
    pack<Words, kColumns, kRun>(block, reinterpret_cast<WordOf<Number>*>(out));
  }

  /// c[kTile, columns] = or += left · right over `words` of depth; of the rows from i on only what
  /// extent_of(i) names. Left out are products with zeros and sums that nobody reads.
  template <class ExtentOf>
  static void multiply(const Number* left, std::int64_t row_stride, std::int64_t step_stride,
                       const Number* right, std::int64_t words, std::int64_t columns, Number* c,
                       bool add, const ExtentOf& extent_of) {
    for (std::int64_t j = 0; j < columns; j += kColumns) {
      for (std::int64_t i = 0; i < kTile; i += Arithmetic::kRows) {
        const Extent extent = extent_of(i);
        const std::int64_t begin = extent.begin / kRun * kRun;
        if (j < extent.columns && begin < extent.end) {
          Arithmetic::block(extent.end - begin, left + i * row_stride + begin * step_stride,
                            row_stride, step_stride, right + j * words + begin * kColumns,
                            c + i * columns + j, columns, add);
        }
      }
    }
  }

  /// A tile [kTile][kTile] of floats as a left factor, in place or to `out`.
  static const Number* left_words(const Number* tile, Number* out) {
    if constexpr (kDepth == 1) {
      return tile;
    } else {
      for (std::int64_t w = 0; w < kTile * kTile / kDepth; w += kStep) {
        store(out + w, Words::along(tile + w * kDepth, kDepth * kStep));
      }
      return out;
    }
  }
  static constexpr std::int64_t kLeftStride = kTile / kDepth;

  /// The transpose of a tile as a left factor: step k is row k (or rows k and k + 1) of the tile.
  static const Number* transposed_words(const Number* tile, Number* out) {
    if constexpr (kDepth == 1) {
      return tile;
    } else {
      Arithmetic::transpose_tile(tile, out);
      return out;
    }
  }
};

template <class Number>
inline constexpr Number kInfinity = Number(__builtin_inf());

/// Scores of one query row against one tile of keys: scaled, masked, hidden ones -infinity.
struct ScoreRow {
  std::int64_t batch, head, query, first_key;

  /// Number of keys of the tile before the end and the diagonal.
  [[nodiscard]] std::int64_t visible(const Attention& a) const {
    std::int64_t last = a.keys;
    if (a.causal && query + a.causal_offset + 1 < last) {
      last = query + a.causal_offset + 1;
    }
    const std::int64_t count = query < a.queries ? last - first_key : 0;
    return count < 0 ? 0 : (count > kTile ? kTile : count);
  }

  /// Returns how many scores count, in whole vectors: those behind them are left alone.
  template <class Number>
  [[nodiscard]] std::int64_t finish(const Attention& a, Number* scores) const {
    constexpr int kStep = kLanesOf<Number>;
    const auto scale = all<VectorOf<Number>>(a.scale);
    const std::int64_t count = visible(a);
    const std::int64_t width = (count + kStep - 1) / kStep * kStep;
    for (std::int64_t j = 0; j < width; j += kStep) {
      store(scores + j, load(scores + j) * scale);
    }
    if (a.mask.kind != MaskKind::none && count > 0) {
      apply_mask(a.mask, scores, count);
    }
    for (std::int64_t j = count; j < width; ++j) {
      scores[j] = -kInfinity<Number>;
    }
    return width;
  }

  /// Where the row's weights begin in what dropout draws for the sample.
  [[nodiscard]] std::uint64_t place(const Attention& a) const {
    return static_cast<std::uint64_t>(((a.first_head + head) * a.queries + query) * a.keys +
                                      first_key);
  }

 private:
  template <class Number>
  void apply_mask(const AttentionMask& mask, Number* scores, std::int64_t count) const {
    const std::int64_t at =
        batch * mask.batch_stride + head * mask.head_stride + query * mask.row_stride + first_key;
    for (std::int64_t j = 0; j < count; ++j) {
      if (mask.kind == MaskKind::additive) {
        scores[j] += static_cast<const Number*>(mask.data)[at + j];
      } else if (!static_cast<const bool*>(mask.data)[at + j]) {
        scores[j] -= kInfinity<Number>;  // nan stays nan
      }
    }
  }
};

/// `products` and 0 times each of `count` numbers: 0 while all are finite, then nan.
template <class T>
[[gnu::always_inline]] inline VectorOf<T> add_times_zero(const T* x, std::int64_t count,
                                                         VectorOf<T> products) {
  for (std::int64_t j = 0; j < count; j += kLanesOf<T>) {
    products = fma(load_some(x + j, count - j), VectorOf<T>{}, products);
  }
  return products;
}

/// Zeros from column `first`, a multiple of the lanes, to the end of a row of a tile.
template <class Number>
[[gnu::always_inline]] inline void clear_from(Number* row, std::int64_t first) {
  for (std::int64_t j = first; j < kTile; j += kLanesOf<Number>) {
    store(row + j, VectorOf<Number>{});
  }
}

/// Dropout of the weights of one sample.
template <class Number>
class WeightDropout {
  using V = VectorOf<Number>;

 public:
  WeightDropout(const Attention& a, std::int64_t batch)
      : drops_(a.dropout.drops), stream_(a.dropout.stream(batch)), scale_(all<V>(stream_.scale)) {}

  [[nodiscard]] bool drops() const { return drops_; }
  /// Draws which of the first `width` weights of a row are dropped; nothing where nothing is
  /// dropped.
  void draw(const Attention& a, const ScoreRow& row, std::int64_t width) {
    if (drops_ && width > 0) {
      kept_.draw(stream_, row.place(a), width);
    }
  }
  /// Weights, or gradients of dropped weights, j, j + 1, ... of the row that was drawn.
  [[gnu::always_inline]] V operator()(std::int64_t j, V x) const {
    return drops_ ? kept_.select(stream_, j, x * scale_) : x;
  }

 private:
  bool drops_;
  DropoutStream stream_;
  V scale_;
  KeptElements<kTile> kept_;
};

/// Tiles of keys that a tile of queries sees at all.
inline std::int64_t visible_tiles(const Attention& a, std::int64_t query_tile) {
  std::int64_t keys = a.keys;
  if (a.causal) {
    const std::int64_t end = (query_tile + 1) * kTile + a.causal_offset;
    keys = end < keys ? end : keys;
  }
  return keys <= 0 ? 0 : (keys + kTile - 1) / kTile;
}

template <class T>
T* row_at(const Heads& h, std::int64_t batch, std::int64_t head, std::int64_t row) {
  return static_cast<T*>(h.data) + batch * h.batch_stride + head * h.head_stride +
         row * h.row_stride;
}

inline std::int64_t rows_in_tile(std::int64_t length, std::int64_t tile) {
  const std::int64_t left = length - tile * kTile;
  return left < kTile ? left : kTile;
}

}  // namespace tessera::cpu::TESSERA_ISA
