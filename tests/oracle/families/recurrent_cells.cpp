#include <tessera/nn/layers/recurrent_cells.h>

#include "oracle/support/counterparts.h"

namespace tessera::oracle {
namespace {

template <class M, class... A>
auto make_cell(const Attributes& a, const A&... options) {
  return nn::make<M>(a.integer("input_size"), a.integer("hidden_size"), options...);
}

template <class M, class... A>
BuiltLayer cell_of_one_state(const Attributes& a, const A&... options) {
  const auto cell = make_cell<M>(a, options...);
  return {cell, [cell](const NamedTensors& in) -> std::vector<Tensor> {
            return {cell(in["x"], in["h_0"])};
          }};
}

BuiltLayer rnn_cell(const Attributes& a) {
  return cell_of_one_state<nn::RNNCell>(a, nn::RnnCellOptions{.bias = a.flag("bias", true)});
}

BuiltLayer gru_cell(const Attributes& a) {
  return cell_of_one_state<nn::GRUCell>(a, a.flag("bias", true));
}

BuiltLayer lstm_cell(const Attributes& a) {
  const auto cell = make_cell<nn::LSTMCell>(a, a.flag("bias", true));
  return {cell, [cell](const NamedTensors& in) -> std::vector<Tensor> {
            const auto [hidden, state] = cell(in["x"], nn::LstmState{in["h_0"], in["c_0"]});
            return {hidden, state};
          }};
}

const Counterparts<Layer> kRecurrentCells{
    {"RNNCell", {rnn_cell}}, {"GRUCell", {gru_cell}}, {"LSTMCell", {lstm_cell}}};

}  // namespace
}  // namespace tessera::oracle
