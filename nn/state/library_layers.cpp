// The library's own layers but those of other lists.
#include <tessera/nn/layers/batch_norm.h>
#include <tessera/nn/layers/bilinear.h>
#include <tessera/nn/layers/causal_self_attention.h>
#include <tessera/nn/layers/dropout.h>
#include <tessera/nn/layers/embedding.h>
#include <tessera/nn/layers/embedding_bag.h>
#include <tessera/nn/layers/flatten.h>
#include <tessera/nn/layers/group_norm.h>
#include <tessera/nn/layers/gru.h>
#include <tessera/nn/layers/identity.h>
#include <tessera/nn/layers/instance_norm.h>
#include <tessera/nn/layers/layer_norm.h>
#include <tessera/nn/layers/lazy.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/layers/lstm.h>
#include <tessera/nn/layers/mlp.h>
#include <tessera/nn/layers/module_dict.h>
#include <tessera/nn/layers/multihead_attention.h>
#include <tessera/nn/layers/parameter_dict.h>
#include <tessera/nn/layers/parameter_list.h>
#include <tessera/nn/layers/recurrent_cells.h>
#include <tessera/nn/layers/rms_norm.h>
#include <tessera/nn/layers/rnn.h>
#include <tessera/nn/layers/rotary_embedding.h>
#include <tessera/nn/layers/sequential.h>
#include <tessera/nn/layers/transformer_block.h>
#include <tessera/nn/layers/transformer_decoder.h>
#include <tessera/nn/layers/transformer_decoder_layer.h>
#include <tessera/nn/layers/transformer_encoder.h>
#include <tessera/nn/layers/transformer_encoder_layer.h>
#include <tessera/nn/state/library_classes.h>

namespace tessera::nn::detail {

std::vector<RegisteredClass> library_layers() {
  return library_classes<
      BatchNorm1d, BatchNorm2d, BatchNorm3d, Bilinear, CausalSelfAttention, Dropout, Dropout2d,
      AlphaDropout, Embedding, EmbeddingBag, Flatten, Unflatten, GroupNorm, GRU, Identity,
      InstanceNorm1d, InstanceNorm2d, InstanceNorm3d, LayerNorm, Linear, LSTM, Mlp, ModuleDict,
      NonDynamicallyQuantizableLinear, MultiheadAttention, ParameterDict, ParameterList, RNNCell,
      LSTMCell, GRUCell, RMSNorm, RNN, RotaryEmbedding, Sequential, TransformerBlock,
      TransformerDecoder, TransformerDecoderLayer, TransformerEncoder, TransformerEncoderLayer>();
}

}  // namespace tessera::nn::detail
