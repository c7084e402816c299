// Gated recurrent units.
#pragma once

#include <utility>

#include <tessera/nn/layers/recurrent.h>

namespace tessera::nn {

/// Layers of r and z, the logistic functions of x weight_ih^T + bias_ih + u, u = h weight_hh^T +
/// bias_hh, and h' = (1 - z) n + z h with n = tanh(x weight_ih^T + bias_ih + r u), each with its
/// rows of the weights, in the order r, z, n (Cho et al., 2014, in the variant of cuDNN).
class GRU : public Recurrent {
 public:
  GRU(std::int64_t input_size, std::int64_t hidden_size, const RecurrentOptions& options = {})
      : Recurrent(RecurrentCell::gru, input_size, hidden_size, options) {}

  /// `auto [output, state] = gru(x)`, as LSTM, with a hidden state alone.
  [[nodiscard]] std::pair<Tensor, Tensor> forward(const Tensor& x, const Tensor& first = {},
                                                  const Tensor& lengths = {}) const {
    return run(x, {first, {}}, lengths);
  }
};

/// What GRU gives, as a function of its weights; see run_recurrent.
[[nodiscard]] inline std::pair<Tensor, Tensor> gru(const Tensor& x, const Tensor& first,
                                                   const std::vector<RecurrentWeights>& weights,
                                                   const RecurrentCall& call = {}) {
  return run_recurrent(RecurrentCell::gru, x, {first, {}}, weights, call);
}

}  // namespace tessera::nn
