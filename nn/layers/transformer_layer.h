// What the layers of encoders and decoders share.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <tessera/nn/layers/layer_norm.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/layers/multihead_attention.h>

namespace tessera::nn {

enum class TransformerActivation : std::uint8_t { relu, gelu };

/// The names of the enumerators, in order.
[[nodiscard]] constexpr auto names_of(TransformerActivation /*of_this_type*/) {
  return std::array<std::string_view, 2>{"relu", "gelu"};
}

struct TransformerLayerOptions {
  std::int64_t dim_feedforward = 2048;
  double dropout = 0.1;  ///< of attention weights, of the hidden layer and of each branch
  TransformerActivation activation = TransformerActivation::relu;
  double layer_norm_eps = 1e-5;
  bool batch_first = false;  ///< tensors are (N, T, width), not (T, N, width)
  bool norm_first = false;   ///< norms stand before the branches, not behind the sums
  bool bias = true;          ///< of linear maps and norms

  static void each(auto& o, const auto& f) {
    visit_fields(f, "dim_feedforward", o.dim_feedforward, "dropout", o.dropout, "activation",
                 o.activation, "layer_norm_eps", o.layer_norm_eps, "batch_first", o.batch_first,
                 "norm_first", o.norm_first, "bias", o.bias);
  }
};

/// Masks of one attention: bool, true where a query does not see a key, or floating and added to
/// the scores.
struct AttentionMasks {
  Tensor mask = {};              ///< (L, S) or (N * heads, L, S)
  Tensor key_padding_mask = {};  ///< (N, S)
  bool is_causal = false;        ///< query i sees keys j <= i, whatever the masks say
};

/// x of `activation`.
[[nodiscard]] Tensor transformer_activation(const Tensor& x, TransformerActivation activation);

/// How the parts are made.
[[nodiscard]] MultiheadAttentionOptions attention_options(const TransformerLayerOptions& options);
[[nodiscard]] LinearOptions linear_options(const TransformerLayerOptions& options);
[[nodiscard]] LayerNormOptions norm_options(const TransformerLayerOptions& options);

/// The output of `attention` under `masks`, without weights.
[[nodiscard]] Tensor attend_to(const Child<MultiheadAttention>& attention, const Tensor& query,
                               const Tensor& memory, const AttentionMasks& masks);

}  // namespace tessera::nn
