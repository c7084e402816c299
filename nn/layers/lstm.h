// Long short-term memory.
#pragma once

#include <utility>

#include <tessera/nn/layers/recurrent.h>

namespace tessera::nn {

/// Hidden and cell states, each (num_layers * directions, B, hidden_size); of hidden states the
/// last dim is proj_size, if there is one.
using LstmState = std::pair<Tensor, Tensor>;

/// Layers of (i f g o) = (s s tanh s)(x weight_ih^T + bias_ih + h weight_hh^T + bias_hh), c' = f c
/// + i g, h' = o tanh(c'), where s is the logistic function (Hochreiter and Schmidhuber, "Long
/// Short-Term Memory", 1997; Gers et al., 2000). With a proj_size h' = (o tanh(c')) weight_hr^T
/// (Sak et al., "Long Short-Term Memory Recurrent Neural Network Architectures for Large Scale
/// Acoustic Modeling", 2014), step by step in ordinary ops.
class LSTM : public Recurrent {
 public:
  LSTM(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options = {})
      : Recurrent(RecurrentCell::lstm, input_size, hidden_size, options) {}

  /// `auto [output, state] = lstm(x)`. x (T, B, input_size), or (B, T, ...) with batch_first, or
  /// (T, input_size); `first` is zeros where undefined; `lengths` (B), if defined, are integers in
  /// [0, T]. The output (T, B, directions * (proj_size or hidden_size)) is 0 beyond the lengths,
  /// and the state is the one behind each sequence's last step, as of a packed sequence. Throws
  /// RuntimeError for an x or a state of another shape.
  [[nodiscard]] std::pair<Tensor, LstmState> forward(const Tensor& x, const LstmState& first = {},
                                                     const Tensor& lengths = {}) const {
    return run(x, {first.first, first.second}, lengths);
  }
};

/// What LSTM gives, as a function of its weights; see run_recurrent.
[[nodiscard]] inline std::pair<Tensor, LstmState> lstm(const Tensor& x, const LstmState& first,
                                                       const std::vector<RecurrentWeights>& weights,
                                                       const RecurrentCall& call = {}) {
  return run_recurrent(RecurrentCell::lstm, x, {first.first, first.second}, weights, call);
}

}  // namespace tessera::nn
