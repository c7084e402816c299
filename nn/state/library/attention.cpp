#include <tessera/nn/layers/causal_self_attention.h>
#include <tessera/nn/layers/mlp.h>
#include <tessera/nn/layers/multihead_attention.h>
#include <tessera/nn/layers/rotary_embedding.h>
#include <tessera/nn/layers/transformer_block.h>
#include <tessera/nn/layers/transformer_decoder.h>
#include <tessera/nn/layers/transformer_decoder_layer.h>
#include <tessera/nn/layers/transformer_encoder.h>
#include <tessera/nn/layers/transformer_encoder_layer.h>
#include <tessera/nn/state/library_classes.h>

namespace tessera::nn::detail {

void add_attention(ClassEntries& all) {
  add_classes<CausalSelfAttention, Mlp, MultiheadAttention, NonDynamicallyQuantizableLinear,
              RotaryEmbedding, TransformerBlock, TransformerDecoder, TransformerDecoderLayer,
              TransformerEncoder, TransformerEncoderLayer>(all);
}

}  // namespace tessera::nn::detail
