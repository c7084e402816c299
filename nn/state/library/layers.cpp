#include <tessera/nn/layers/adaptive_avg_pool.h>
#include <tessera/nn/layers/avg_pool.h>
#include <tessera/nn/layers/batch_norm.h>
#include <tessera/nn/layers/bilinear.h>
#include <tessera/nn/layers/conv.h>
#include <tessera/nn/layers/conv_transpose.h>
#include <tessera/nn/layers/dropout.h>
#include <tessera/nn/layers/embedding.h>
#include <tessera/nn/layers/embedding_bag.h>
#include <tessera/nn/layers/flatten.h>
#include <tessera/nn/layers/group_norm.h>
#include <tessera/nn/layers/gru.h>
#include <tessera/nn/layers/identity.h>
#include <tessera/nn/layers/instance_norm.h>
#include <tessera/nn/layers/layer_norm.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/layers/lstm.h>
#include <tessera/nn/layers/max_pool.h>
#include <tessera/nn/layers/module_dict.h>
#include <tessera/nn/layers/parameter_dict.h>
#include <tessera/nn/layers/parameter_list.h>
#include <tessera/nn/layers/pixel_shuffle.h>
#include <tessera/nn/layers/recurrent_cells.h>
#include <tessera/nn/layers/rms_norm.h>
#include <tessera/nn/layers/rnn.h>
#include <tessera/nn/layers/sequential.h>
#include <tessera/nn/layers/upsample.h>
#include <tessera/nn/state/library_classes.h>

namespace tessera::nn::detail {

void add_layers(ClassEntries& all) {
  add_classes<AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d, AlphaDropout, AvgPool1d,
              AvgPool2d, AvgPool3d, BatchNorm1d, BatchNorm2d, BatchNorm3d, Bilinear, Conv1d, Conv2d,
              Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d, Dropout, Dropout2d,
              Embedding, EmbeddingBag, Flatten, GroupNorm, GRU, GRUCell, Identity, InstanceNorm1d,
              InstanceNorm2d, InstanceNorm3d, LayerNorm, Linear, LSTM, LSTMCell, MaxPool1d,
              MaxPool2d, MaxPool3d, ModuleDict, ParameterDict, ParameterList, PixelShuffle,
              PixelUnshuffle, RMSNorm, RNN, RNNCell, Sequential, Unflatten, Upsample>(all);
}

}  // namespace tessera::nn::detail
