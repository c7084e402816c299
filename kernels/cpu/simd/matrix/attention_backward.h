// Attention backward for one key head. After simd/begin.h.
#pragma once

#include <cstdint>

#include <tessera/kernels/cpu/scratch.h>
#include <tessera/kernels/cpu/simd/matrix/attention_tile.h>

namespace tessera::cpu::TESSERA_ISA {

// With P = e^((scores - top) - log_sum), dP = dO V^T and delta = rowsum(dO * O): dS = P * (dP -
// delta) · scale, dV = P^T dO, dK = dS^T Q, dQ = dS K. With dropout, dV takes the dropped P, and dP
// is what gets through to the weights that were kept. Query tiles are the outer loop, so dK and dV
// are added up in memory in the order of heads and queries, dQ in the order of keys.
template <class T>
class BackwardHead {
  using Math = TileMath<T>;
  using Number = NumberOf<T>;
  using V = VectorOf<T>;
  static constexpr int kStep = kLanesOf<T>;

 public:
  BackwardHead(const AttentionGradient& g, std::int64_t batch, std::int64_t key_head)
      : g_(g),
        a_(g.forward),
        batch_(batch),
        key_head_(key_head),
        columns_(Math::padded(a_.head_dim)),
        dropout_(a_, batch) {
    tiles_ = (a_.keys + kTile - 1) / kTile;
    across_ = Math::words_of(a_.head_dim) * kTile;
    down_ = Math::words_of(kTile) * columns_;
    const std::int64_t left = kTile * Math::row_words(a_.head_dim);
    const std::int64_t total = tiles_ * (2 * across_ + down_ + 2 * kTile * columns_) + 2 * left +
                               2 * down_ + kTile * columns_ + 5 * kTile * kTile + kTile + 512;
    Carver<Number> memory(scratch_array<Number>(Scratch::attention, total));
    keys_across_ = memory.take(tiles_ * across_);
    values_across_ = memory.take(tiles_ * across_);
    keys_down_ = memory.take(tiles_ * down_);
    dk_ = memory.take(tiles_ * kTile * columns_);
    dv_ = memory.take(tiles_ * kTile * columns_);
    query_left_ = memory.take(left);
    dout_left_ = memory.take(left);
    query_down_ = memory.take(down_);
    dout_down_ = memory.take(down_);
    dq_ = memory.take(kTile * columns_);
    p_ = memory.take(kTile * kTile);
    ds_ = memory.take(kTile * kTile);
    words_ = memory.take(kTile * kTile);
    delta_ = memory.take(kTile);
  }

  /// All gradients of the key head.
  void run() {
    Math::Arithmetic::begin();
    pack_keys(0, tiles_);
    clear_sums(0, tiles_);
    for_each_query_tile([&](std::int64_t head, std::int64_t tile) {
      query_tile(head, tile, {0, visible_tiles(a_, tile), true, true});
    });
    write_sums(0, tiles_);
  }

  /// The gradients of one tile of keys: the same sums in the same order.
  void run_keys(std::int64_t t) {
    Math::Arithmetic::begin();
    pack_keys(t, t + 1);
    clear_sums(t, t + 1);
    for_each_query_tile([&](std::int64_t head, std::int64_t tile) {
      if (t < visible_tiles(a_, tile)) {
        query_tile(head, tile, {t, t + 1, true, false});
      }
    });
    write_sums(t, t + 1);
  }

  /// The gradients of one tile of queries of each head: likewise.
  void run_queries(std::int64_t tile) {
    const std::int64_t seen = visible_tiles(a_, tile);
    Math::Arithmetic::begin();
    pack_keys(0, seen);
    for (std::int64_t head = first_head(); head < first_head() + group(); ++head) {
      query_tile(head, tile, {0, seen, false, true});
    }
  }

 private:
  /// Tiles of keys to go through, and whose gradients are wanted.
  struct Work {
    std::int64_t first, end;
    bool keys, queries;
  };

  [[nodiscard]] std::int64_t group() const { return a_.heads / a_.key_heads; }
  [[nodiscard]] std::int64_t first_head() const { return key_head_ * group(); }

  template <class F>
  void for_each_query_tile(const F& f) const {
    for (std::int64_t head = first_head(); head < first_head() + group(); ++head) {
      for (std::int64_t t = 0; t * kTile < a_.queries; ++t) {
        f(head, t);
      }
    }
  }

  void clear_sums(std::int64_t first, std::int64_t end) {
    const std::int64_t size = kTile * columns_;
    const auto bytes = static_cast<std::size_t>((end - first) * size) * sizeof(Number);
    std::memset(dk_ + first * size, 0, bytes);
    std::memset(dv_ + first * size, 0, bytes);
  }
  void write_sums(std::int64_t first, std::int64_t end) const {
    const std::int64_t rows = end * kTile < a_.keys ? end * kTile : a_.keys;
    for (std::int64_t row = first * kTile; row < rows; ++row) {
      write_row(dk_ + row * columns_, row_at<T>(g_.dk, batch_, key_head_, row));
      write_row(dv_ + row * columns_, row_at<T>(g_.dv, batch_, key_head_, row));
    }
  }

  void pack_keys(std::int64_t first, std::int64_t end) {
    for (std::int64_t t = first; t < end; ++t) {
      const std::int64_t rows = rows_in_tile(a_.keys, t);
      const T* k = row_at<const T>(a_.k, batch_, key_head_, t * kTile);
      const T* v = row_at<const T>(a_.v, batch_, key_head_, t * kTile);
      Math::pack_columns(k, a_.k.row_stride, rows, a_.head_dim, keys_across_ + t * across_);
      Math::pack_columns(v, a_.v.row_stride, rows, a_.head_dim, values_across_ + t * across_);
      Math::pack_rows(k, a_.k.row_stride, rows, a_.head_dim, keys_down_ + t * down_);
    }
  }

  void pack_queries(std::int64_t head, std::int64_t first, std::int64_t rows) {
    const T* q = row_at<const T>(a_.q, batch_, head, first);
    const T* d = row_at<const T>(g_.dout, batch_, head, first);
    Math::pack_left(q, a_.q.row_stride, rows, a_.head_dim, query_left_);
    Math::pack_left(d, g_.dout.row_stride, rows, a_.head_dim, dout_left_);
    Math::pack_rows(q, a_.q.row_stride, rows, a_.head_dim, query_down_);
    Math::pack_rows(d, g_.dout.row_stride, rows, a_.head_dim, dout_down_);
    for (std::int64_t i = 0; i < kTile; ++i) {
      delta_[i] = i < rows ? dot(d + i * g_.dout.row_stride,
                                 row_at<const T>(a_.out, batch_, head, first + i))
                           : Number(0);
    }
  }

  Number dot(const T* a, const T* b) const {
    V s = V{};
    for (std::int64_t j = 0; j < a_.head_dim; j += kStep) {
      s = fma(load_some(a + j, a_.head_dim - j), load_some(b + j, a_.head_dim - j), s);
    }
    return sum(s);
  }

  void query_tile(std::int64_t head, std::int64_t tile, const Work& work) {
    const std::int64_t rows = rows_in_tile(a_.queries, tile);
    pack_queries(head, tile * kTile, rows);
    std::memset(dq_, 0, static_cast<std::size_t>(kTile * columns_) * sizeof(Number));
    const std::int64_t depth = Math::words_of(a_.head_dim);
    const std::int64_t left_stride = Math::row_words(a_.head_dim);
    for (std::int64_t t = work.first; t < work.end; ++t) {
      const Diagonal diagonal(a_, tile, t, Math::Arithmetic::kRows);
      const auto seen = [&](std::int64_t i) { return Extent{0, depth, diagonal.keys(i)}; };
      Math::multiply(query_left_, left_stride, 1, keys_across_ + t * across_, depth, kTile, p_,
                     false, seen);
      Math::multiply(dout_left_, left_stride, 1, values_across_ + t * across_, depth, kTile, ds_,
                     false, seen);
      for (std::int64_t i = 0; i < kTile; ++i) {
        score_row({batch_, head, tile * kTile + i, t * kTile}, i);
      }
      if (work.keys) {
        add_to_keys(diagonal, rows, t);
      }
      if (work.queries) {
        add_to_queries(diagonal, t);
      }
    }
    for (std::int64_t i = 0; work.queries && i < rows; ++i) {
      write_row(dq_ + i * columns_, row_at<T>(g_.dq, batch_, head, tile * kTile + i));
    }
  }

  /// Adds what P and dS of the tile give to dV and dK.
  void add_to_keys(const Diagonal& diagonal, std::int64_t rows, std::int64_t t) {
    const std::int64_t queries = Math::words_of(rows);
    const auto seeing = [&](std::int64_t j) {
      return Extent{diagonal.first_query(j) / Math::kDepth, queries, columns_};
    };
    constexpr std::int64_t kRow = Math::Arithmetic::kTransposedRow;
    constexpr std::int64_t kDown = Math::Arithmetic::kTransposedStep;
    Math::multiply(Math::transposed_words(p_, words_), kRow, kDown, dout_down_, queries, columns_,
                   dv_ + t * kTile * columns_, true, seeing);
    Math::multiply(Math::transposed_words(ds_, words_), kRow, kDown, query_down_, queries, columns_,
                   dk_ + t * kTile * columns_, true, seeing);
  }

  /// Adds what dS of the tile gives to dQ.
  void add_to_queries(const Diagonal& diagonal, std::int64_t t) {
    const std::int64_t keys = Math::words_of(rows_in_tile(a_.keys, t));
    Math::multiply(Math::left_words(ds_, words_), Math::kLeftStride, 1, keys_down_ + t * down_,
                   keys, columns_, dq_, true, [&](std::int64_t i) {
                     const std::int64_t end = Math::words_of(diagonal.keys(i));
                     return Extent{0, end < keys ? end : keys, columns_};
                   });
  }

  /// Scores become P, dP becomes dS.
  void score_row(const ScoreRow& row, std::int64_t i) {
    Number* p = p_ + i * kTile;
    Number* ds = ds_ + i * kTile;
    const std::int64_t width = row.finish(a_, p);
    ScoreSum<Number> row_sum;
    if (row.query < a_.queries) {
      row_sum = static_cast<ScoreSum<Number>*>(
          a_.sums)[(batch_ * a_.heads + row.head) * a_.queries + row.query];
    }
    const V top = set1(row_sum.top), log_sum = set1(row_sum.log_sum);
    const V delta = set1(delta_[i]);
    const V scale = all<V>(a_.scale);
    dropout_.draw(a_, row, width);
    for (std::int64_t j = 0; j < width; j += kStep) {
      const V q = exp_of_difference((load(p + j) - top) - log_sum);
      store(p + j, dropout_(j, q));
      store(ds + j, q * (dropout_(j, load(ds + j)) - delta) * scale);
    }
    clear_from(p, width);
    clear_from(ds, width);
  }

  void write_row(const Number* sums, T* out) const {
    for (std::int64_t j = 0; j < a_.head_dim; j += kStep) {
      const V v = load(sums + j);
      a_.head_dim - j >= kStep ? store(out + j, v) : store_n(out + j, v, a_.head_dim - j);
    }
  }

  const AttentionGradient& g_;
  const Attention& a_;
  std::int64_t batch_, key_head_, columns_;
  WeightDropout<Number> dropout_;
  std::int64_t tiles_ = 0, across_ = 0, down_ = 0;
  Number *keys_across_, *values_across_, *keys_down_, *dk_, *dv_;
  Number *query_left_, *dout_left_, *query_down_, *dout_down_, *dq_;
  Number *p_, *ds_, *words_, *delta_;
};

}  // namespace tessera::cpu::TESSERA_ISA
