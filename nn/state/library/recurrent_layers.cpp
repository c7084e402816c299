#include <tessera/nn/layers/gru.h>
#include <tessera/nn/layers/lstm.h>
#include <tessera/nn/layers/recurrent_cells.h>
#include <tessera/nn/layers/rnn.h>
#include <tessera/nn/state/library_classes.h>

namespace tessera::nn::detail {

void add_recurrent_layers(ClassEntries& all) {
  add_classes<GRU, GRUCell, LSTM, LSTMCell, RNN, RNNCell>(all);
}

}  // namespace tessera::nn::detail
