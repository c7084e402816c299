// Attention with several heads.
#pragma once

#include <optional>
#include <tuple>
#include <utility>

#include <tessera/nn/layers/linear.h>
#include <tessera/nn/layers/multi_head_attention_forward.h>
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

  static void each(auto& o, const auto& f) {
    visit_fields(f, "dropout", o.dropout, "bias", o.bias, "add_bias_kv", o.add_bias_kv,
                 "add_zero_attn", o.add_zero_attn, "kdim", o.kdim, "vdim", o.vdim, "batch_first",
                 o.batch_first);
  }
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
  Parameter bias_v;          ///< (1, 1, embed_dim); undefined without add_bias_kv
  Child<NonDynamicallyQuantizableLinear> out_proj;

 private:
  void make_parameters(const MultiheadAttentionOptions& options);

  std::int64_t embed_dim_, num_heads_;
  std::int64_t kdim_, vdim_;
  double dropout_;
  bool add_zero_attn_, batch_first_;
};

}  // namespace tessera::nn
