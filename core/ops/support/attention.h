// Attention over dense memory, for reference kernels and for whoever wants to read what it is.
//
// With queries q_i, keys k_j and values v_j of one head, scores s_ij = scale q_i . k_j + mask_ij
// and p = softmax(s) over j:
//
//   y_i = sum_j m_ij p_ij v_j
//
// where m_ij is the factor of dropout. A mask of bools adds 0 or -inf. So a nan in a key or a value
// that a mask hides makes nan, as in PyTorch: nan - inf and 0 nan are nan. Causal attention does
// not look at the keys behind a query: what they hold changes nothing in y. Query heads h and h +
// 1, ..., in groups of heads / kv_heads, share a head of keys and values.
#pragma once

#include <cstdint>
#include <ostream>
#include <vector>

#include <tessera/core/tensor/box.h>
#include <tessera/core/tensor/tensor_impl.h>

namespace tessera {

struct AttentionAttrs {
  bool causal = false;            ///< query i sees keys j <= i
  double scale = 0;               ///< 0: 1 / sqrt(size of a head)
  double dropout = 0;             ///< probability that a weight is zeroed, see DropoutMask
  std::uint64_t key = 0;          ///< of the draw
  std::int64_t first_sample = 0;  ///< index in the global batch of the first sample
  std::int64_t first_head = 0;    ///< number in the sample of the first head of queries
  DType dtype = DType::f32;       ///< of the products and of y; sums and softmax are f32
  void fields(auto&& see) const {
    see("causal", causal), see("scale", scale), see("dropout", dropout), see("key", key),
        see("first_sample", first_sample), see("first_head", first_head), see("dtype", dtype);
  }
  /// Makes them those of the call for `queries`, a box of all queries (batch, heads, time, size).
  void localise(const Box& queries) {
    first_sample += queries.offset[0];
    first_head += queries.offset[1];
  }
  friend bool operator==(const AttentionAttrs&, const AttentionAttrs&) = default;
};

/// Where the heads' vectors lie in memory: element d of row t of head h of sample b at
/// offset + b batch + h head + t row + d.
struct HeadLayout {
  std::int64_t offset = 0;
  std::int64_t batch = 0;
  std::int64_t head = 0;
  std::int64_t row = 0;

  [[nodiscard]] std::int64_t at(std::int64_t b, std::int64_t h, std::int64_t t) const {
    return offset + b * batch + h * head + t * row;
  }
  /// The layout of a dense tensor (batch, heads, rows, size).
  static HeadLayout dense(const Shape& shape) {
    return {.batch = shape[1] * shape[2] * shape[3], .head = shape[2] * shape[3], .row = shape[3]};
  }
};

/// What is kept of a query's scores: the weight of score s is e^((s - top) - log_sum), one
/// subtracted after the other. A log of the sum of exponentials in one number loses the log of how
/// many keys share it where the scores are as large as masks can make them; where they are not,
/// log_sum is that number and top is 0. Both are 0 for a query that sees no key.
template <class F>
struct ScoreSum {
  static constexpr F kLarge = 128;  ///< rounding in floats of this size loses 4e-6
  F top = 0, log_sum = 0;

  /// A sum by the largest score and the log of the sum of e^(s - top).
  static ScoreSum of(F top, F log_sum) {
    const bool small = -kLarge <= top && top <= kLarge;
    return small ? ScoreSum{0, top + log_sum} : ScoreSum{top, log_sum};
  }
};

struct AttentionProblem {
  AttentionAttrs attrs;
  std::int64_t batch = 0, heads = 0, kv_heads = 0, queries = 0, keys = 0, size = 0;
  HeadLayout q, k, v, y;
  std::vector<double> mask;  ///< added to scores (batch, heads, queries, keys), or empty
  /// Scores are rounded to f32, in which their sums are kept: a weight is one of the rounded score.
  bool in_f32 = false;

  [[nodiscard]] double scale() const;
  /// Index of a query's first score.
  [[nodiscard]] std::int64_t score_at(std::int64_t b, std::int64_t h, std::int64_t i) const {
    return ((b * heads + h) * queries + i) * keys;
  }
};

struct AttentionData {
  std::vector<double> q, k, v;  ///< may be one memory: give it thrice
};

/// Fills y, laid out by `problem.y`, and the ScoreSums (batch, heads, queries, 2). A query that
/// sees no key gives zeros.
void attention_forward(const AttentionProblem& problem, const AttentionData& x,
                       std::vector<double>& y, std::vector<double>& sums);

/// Adds the gradients to `to`, whose parts are laid out as q, k and v, from that of y.
void attention_backward(const AttentionProblem& problem, const AttentionData& x,
                        const std::vector<double>& gradient, const std::vector<double>& sums,
                        AttentionData& to);

/// The dtype of sums and statistics of an op on inputs of `dtype`.
[[nodiscard]] inline DType statistics_dtype(DType dtype) {
  return dtype == DType::f64 ? DType::f64 : DType::f32;
}

}  // namespace tessera
