// Attention with several heads.
#pragma once

#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include <tessera/nn/layers/linear.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

struct MultiheadAttentionOptions {
  double dropout = 0;                     ///< in training, of attention weights
  bool bias = true;                       ///< of the projections
  bool add_bias_kv = false;               ///< one more key and value, which are trained
  bool add_zero_attn = false;             ///< one more key and value of zeros
  std::optional<std::int64_t> kdim = {};  ///< width of keys; without one embed_dim
  std::optional<std::int64_t> vdim = {};  ///< of values
  bool batch_first = false;               ///< tensors are (N, T, width), not (T, N, width)

  template <class Self, class F>
  static void each(Self& options, const F& f) {
    f("dropout", options.dropout);
    f("bias", options.bias);
    f("add_bias_kv", options.add_bias_kv);
    f("add_zero_attn", options.add_zero_attn);
    f("kdim", options.kdim);
    f("vdim", options.vdim);
    f("batch_first", options.batch_first);
  }
};

/// What one call asks for. Masks are bool, true where a query does not see a key, or floating and
/// added to the scores.
struct AttendOptions {
  Tensor key_padding_mask = {};      ///< (N, S)
  bool need_weights = true;          ///< without them long inputs take less memory and time
  Tensor attn_mask = {};             ///< (L, S) or (N * num_heads, L, S)
  bool average_attn_weights = true;  ///< over heads
  bool is_causal = false;            ///< query i sees keys j <= i, whatever the masks say
};

/// The last map of MultiheadAttention: a Linear under the name that PyTorch prints.
class NonDynamicallyQuantizableLinear : public Linear {
 public:
  using Linear::Linear;
};

/// Attention of queries to keys and values, each projected and cut into heads (Vaswani et al.,
/// "Attention Is All You Need", NeurIPS 2017, section 3.2.2), named, initialised and printed as in
/// PyTorch. Where S keys become more (add_bias_kv, add_zero_attn), masks hide none of the new ones.
class MultiheadAttention : public Module {
 public:
  /// Throws InvalidArgument, naming the nearest numbers that work, when `num_heads` does not divide
  /// `embed_dim`, and ValueError for other numbers that cannot be meant.
  MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads,
                     const MultiheadAttentionOptions& options = {});

  /// `auto [output, weights] = attention(query, key, value)`. query (L, N, embed_dim), key (S, N,
  /// kdim), value (S, N, vdim), with batch_first (N, L, ...), or without N and so without N in the
  /// masks. The output has the query's shape; the weights are (N, L, S), or (N, num_heads, L, S)
  /// without the average, f32 or f64, behind dropout, and undefined if not needed. A query that
  /// sees no key gives NaN with weights, zeros before out_proj without. Throws InvalidArgument for
  /// other shapes.
  [[nodiscard]] std::pair<Tensor, Tensor> forward(const Tensor& query, const Tensor& key,
                                                  const Tensor& value,
                                                  const AttendOptions& options = {}) const;
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const {
    const MultiheadAttentionOptions options{.dropout = dropout_,
                                            .bias = in_proj_bias.defined(),
                                            .add_bias_kv = bias_k.defined(),
                                            .add_zero_attn = add_zero_attn_,
                                            .kdim = kdim_,
                                            .vdim = vdim_,
                                            .batch_first = batch_first_};
    return std::tuple(embed_dim_, num_heads_, options);
  }

  Parameter in_proj_weight;  ///< (3 embed_dim, embed_dim): of queries, keys and values
  Parameter q_proj_weight;   ///< (embed_dim, embed_dim); these three with other kdim or vdim alone
  Parameter k_proj_weight;   ///< (embed_dim, kdim)
  Parameter v_proj_weight;   ///< (embed_dim, vdim)
  Parameter in_proj_bias;    ///< (3 embed_dim); undefined without bias
  Parameter bias_k;          ///< (1, 1, embed_dim); undefined without add_bias_kv
  Parameter bias_v;          ///< likewise
  Child<NonDynamicallyQuantizableLinear> out_proj;

 private:
  /// Queries, keys and values, (N, time, width) each.
  using Streams = std::array<Tensor, 3>;

  void make_parameters(const MultiheadAttentionOptions& options);
  void check_inputs(const Tensor& query, const Tensor& key, const Tensor& value) const;
  [[nodiscard]] Tensor batched(const Tensor& x) const;
  [[nodiscard]] Tensor unbatched(const Tensor& y, bool has_batch) const;
  [[nodiscard]] bool packs(const Streams& x) const;
  [[nodiscard]] Streams project(const Streams& x) const;
  void add_keys(Tensor& keys, const Parameter& bias) const;
  /// (N, L, embed_dim) before the last map, and weights (N, num_heads, L, S) or nothing.
  [[nodiscard]] std::pair<Tensor, Tensor> attend(const Streams& x,
                                                 const AttendOptions& options) const;
  [[nodiscard]] std::pair<Tensor, Tensor> attend_heads(Streams x, bool causal, bool need_weights,
                                                       Tensor mask) const;

  std::int64_t embed_dim_, num_heads_;
  std::int64_t kdim_, vdim_;
  double dropout_;
  bool add_zero_attn_, batch_first_;
};

}  // namespace tessera::nn
