// Attention forward for one key head. After simd/begin.h.
#pragma once

#include <cstdint>

#include <tessera/kernels/cpu/scratch.h>
#include <tessera/kernels/cpu/simd/matrix/attention_tile.h>

namespace tessera::cpu::TESSERA_ISA {

template <class T>
class ForwardHead {
  using Math = TileMath<T>;
  using Number = NumberOf<T>;
  using V = VectorOf<T>;
  static constexpr int kStep = kLanesOf<T>;

 public:
  ForwardHead(const Attention& a, std::int64_t batch, std::int64_t key_head)
      : a_(a),
        batch_(batch),
        key_head_(key_head),
        columns_(Math::padded(a.head_dim)),
        dropout_(a, batch) {
    const std::int64_t tiles = (a.keys + kTile - 1) / kTile;
    key_size_ = Math::words_of(a.head_dim) * kTile;
    value_size_ = Math::words_of(kTile) * columns_;
    const std::int64_t tile_size = kTile * kTile;
    const std::int64_t left = kTile * Math::row_words(a.head_dim);
    const std::int64_t total = tiles * (key_size_ + value_size_) + left + 2 * tile_size +
                               kTile * columns_ + 2 * kTile + 256;
    Carver<Number> memory(scratch_array<Number>(Scratch::attention, total));
    keys_ = memory.take(tiles * key_size_);
    values_ = memory.take(tiles * value_size_);
    query_ = memory.take(left);
    scores_ = memory.take(tile_size);
    words_ = memory.take(tile_size);
    sums_ = memory.take(kTile * columns_);
    maximum_ = memory.take(kTile);
    total_ = memory.take(kTile);
  }

  void run(std::int64_t part, std::int64_t parts) {
    Math::Arithmetic::begin();
    for (std::int64_t t = 0; t * kTile < a_.keys; ++t) {
      const std::int64_t rows = rows_in_tile(a_.keys, t);
      Math::pack_columns(row_at<const T>(a_.k, batch_, key_head_, t * kTile), a_.k.row_stride, rows,
                         a_.head_dim, keys_ + t * key_size_);
      Math::pack_rows(row_at<const T>(a_.v, batch_, key_head_, t * kTile), a_.v.row_stride, rows,
                      a_.head_dim, values_ + t * value_size_);
    }
    finite_ = !a_.causal || has_finite_values();
    const std::int64_t group = a_.heads / a_.key_heads;
    for (std::int64_t head = key_head_ * group; head < (key_head_ + 1) * group; ++head) {
      for (std::int64_t t = part; t * kTile < a_.queries; t += parts) {
        query_tile(head, t);
      }
    }
  }

 private:
  [[nodiscard]] bool has_finite_values() const {
    const auto row = [this](std::int64_t j) {
      return row_at<const T>(a_.v, batch_, key_head_, j < a_.keys ? j : a_.keys - 1);
    };
    V even{}, odd{};  // two chains: each add waits for the one before
    for (std::int64_t j = 0; j < a_.keys; j += 2) {
      even = add_times_zero(row(j), a_.head_dim, even);
      odd = add_times_zero(row(j + 1), a_.head_dim, odd);
    }
    return sum(even + odd) == 0;
  }

  void query_tile(std::int64_t head, std::int64_t tile) {
    const std::int64_t rows = rows_in_tile(a_.queries, tile);
    Math::pack_left(row_at<const T>(a_.q, batch_, head, tile * kTile), a_.q.row_stride, rows,
                    a_.head_dim, query_);
    for (std::int64_t i = 0; i < kTile; ++i) {
      maximum_[i] = -kInfinity<Number>;
      total_[i] = 0;
    }
    const std::int64_t key_tiles = visible_tiles(a_, tile);
    std::memset(sums_, 0, static_cast<std::size_t>(kTile * columns_) * sizeof(Number));
    for (std::int64_t t = 0; t < key_tiles; ++t) {
      const Diagonal diagonal(a_, tile, t, Math::Arithmetic::kRows);
      const std::int64_t depth = Math::words_of(a_.head_dim);
      Math::multiply(query_, Math::row_words(a_.head_dim), 1, keys_ + t * key_size_, depth, kTile,
                     scores_, false, [&](std::int64_t i) {
                       return Extent{0, depth, diagonal.keys(i)};
                     });
      for (std::int64_t i = 0; i < kTile; ++i) {
        softmax_row({batch_, head, tile * kTile + i, t * kTile}, i);
      }
      if (!finite_) {
        add_visible_values({batch_, head, tile * kTile, t * kTile});
        continue;
      }
      const Number* left = Math::left_words(scores_, words_);
      const std::int64_t keys = Math::words_of(rows_in_tile(a_.keys, t));
      Math::multiply(left, Math::kLeftStride, 1, values_ + t * value_size_, keys, columns_, sums_,
                     true, [&](std::int64_t i) {
                       const std::int64_t end = Math::words_of(diagonal.keys(i));
                       return Extent{0, end < keys ? end : keys, columns_};
                     });
    }
    for (std::int64_t i = 0; i < rows; ++i) {
      write_row(head, tile * kTile + i, i);
    }
  }

  /// Row by row, up to the diagonal: products of blocks of rows take weights of 0 behind it, times
  /// a value that is nan.
  void add_visible_values(ScoreRow row) {
    for (std::int64_t i = 0; i < kTile; ++i, ++row.query) {
      const std::int64_t keys = row.visible(a_);
      for (std::int64_t j = 0; j < keys; ++j) {
        const T* value = row_at<const T>(a_.v, batch_, key_head_, row.first_key + j);
        for (std::int64_t d = 0; d < a_.head_dim; ++d) {
          sums_[i * columns_ + d] += scores_[i * kTile + j] * static_cast<Number>(value[d]);
        }
      }
    }
  }

  // Online softmax: sums so far are rescaled when the row's maximum grows.
  void softmax_row(const ScoreRow& row, std::int64_t i) {
    Number* s = scores_ + i * kTile;
    const std::int64_t width = row.finish(a_, s);
    V top = set1(maximum_[i]);
    for (std::int64_t j = 0; j < width; j += kStep) {
      top = max(load(s + j), top);
    }
    const Number maximum = largest(top);
    const V shift = set1(maximum == -kInfinity<Number> ? Number(0) : maximum);
    V sum_of_row = V{};
    dropout_.draw(a_, row, width);
    for (std::int64_t j = 0; j < width; j += kStep) {
      const V p = exp_of_difference(load(s + j) - shift);
      store(s + j, dropout_(j, p));
      sum_of_row = sum_of_row + p;
    }
    clear_from(s, width);
    const V keep = exp_of_difference(set1(maximum_[i]) - shift);
    total_[i] = total_[i] * keep[0] + sum(sum_of_row);
    if (maximum != maximum_[i]) {
      Number* out = sums_ + i * columns_;
      for (std::int64_t j = 0; j < columns_; j += kStep) {
        store(out + j, load(out + j) * keep);
      }
      maximum_[i] = maximum;
    }
  }

  void write_row(std::int64_t head, std::int64_t query, std::int64_t i) {
    T* out = row_at<T>(a_.out, batch_, head, query);
    const V factor = set1(total_[i] == 0 ? Number(0) : 1 / total_[i]);
    for (std::int64_t j = 0; j < a_.head_dim; j += kStep) {
      const V v = load(sums_ + i * columns_ + j) * factor;
      a_.head_dim - j >= kStep ? store(out + j, v) : store_n(out + j, v, a_.head_dim - j);
    }
    if (a_.sums != nullptr) {
      const Number log_sum = log_of_any(set1(total_[i]))[0];
      static_cast<ScoreSum<Number>*>(a_.sums)[(batch_ * a_.heads + head) * a_.queries + query] =
          total_[i] == 0 ? ScoreSum<Number>{} : ScoreSum<Number>::of(maximum_[i], log_sum);
    }
  }

  const Attention& a_;
  std::int64_t batch_, key_head_, columns_;
  WeightDropout<Number> dropout_;
  std::int64_t key_size_ = 0, value_size_ = 0;
  bool finite_ = true;  ///< no value behind a causal query can be nan or infinite
  Number *keys_, *values_, *query_, *scores_, *words_, *sums_, *maximum_, *total_;
};

}  // namespace tessera::cpu::TESSERA_ISA
