// Attention over dense memory, for reference kernels and for whoever wants to read what it is.
//
// With queries q_i, keys k_j and values v_j of one head, scores s_ij = scale q_i . k_j + mask_ij
// and p = softmax(s) over j:
//
//   y_i = sum_j m_ij p_ij v_j
//
// where m_ij is the factor of dropout. Query heads h and h + 1, ..., in groups of heads / kv_heads,
// share a head of keys and values.
#pragma once

#include <cstdint>
#include <ostream>
#include <vector>

#include <tessera/core/tensor/tensor_impl.h>

namespace tessera {

struct AttentionAttrs {
  bool causal = false;            ///< query i sees keys j <= i
  double scale = 0;               ///< 0: 1 / sqrt(size of a head)
  double dropout = 0;             ///< probability that a weight is zeroed, see DropoutMask
  std::uint64_t key = 0;          ///< of the draw
  std::int64_t first_sample = 0;  ///< index in the global batch of the first sample
  DType dtype = DType::f32;       ///< of the products and of y; sums and softmax are f32
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
  /// Of a dense tensor (batch, heads, rows, size).
  static HeadLayout dense(const Shape& shape) {
    return {.batch = shape[1] * shape[2] * shape[3], .head = shape[2] * shape[3], .row = shape[3]};
  }
};

struct AttentionProblem {
  AttentionAttrs attrs;
  std::int64_t batch = 0, heads = 0, kv_heads = 0, queries = 0, keys = 0, size = 0;
  HeadLayout q, k, v, y;
  std::vector<double> mask;  ///< added to scores (batch, heads, queries, keys), or empty

  [[nodiscard]] double scale() const;
  /// Index of a score, which is also its place in its sample's draw plus `batch` samples before.
  [[nodiscard]] std::int64_t score_at(std::int64_t b, std::int64_t h, std::int64_t i) const {
    return ((b * heads + h) * queries + i) * keys;
  }
};

struct AttentionData {
  std::vector<double> q, k, v;  ///< may be one memory: give it thrice
};

/// Fills y, laid out by `problem.y`, and log(sum_j exp s_ij) (batch, heads, queries). A query that
/// sees no key gives zeros and -inf.
void attention_forward(const AttentionProblem& problem, const AttentionData& x,
                       std::vector<double>& y, std::vector<double>& log_sum_exp);

/// Adds the gradients to `to`, whose parts are laid out as q, k and v, from that of y.
void attention_backward(const AttentionProblem& problem, const AttentionData& x,
                        const std::vector<double>& gradient, const std::vector<double>& log_sum_exp,
                        AttentionData& to);

}  // namespace tessera
