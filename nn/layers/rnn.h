// Plain recurrent layers.
#pragma once

#include <array>
#include <string_view>
#include <tuple>
#include <utility>

#include <tessera/nn/layers/recurrent.h>

namespace tessera::nn {

enum class Nonlinearity : std::uint8_t { tanh, relu };

/// The names of the enumerators, in order.
[[nodiscard]] constexpr auto names_of(Nonlinearity /*of_this_type*/) {
  return std::array<std::string_view, 2>{"tanh", "relu"};
}

struct RnnOptions {
  std::int64_t num_layers = 1;                     ///< each takes the outputs of the one before
  Nonlinearity nonlinearity = Nonlinearity::tanh;  ///< of every step
  bool bias = true;
  bool batch_first = false;    ///< x and the output are (B, T, ...), not (T, B, ...)
  double dropout = 0;          ///< in training, of the outputs of all layers but the last
  bool bidirectional = false;  ///< each layer also runs from the last step to the first

  static void each(auto& o, const auto& f) {
    visit_fields(f, "num_layers", o.num_layers, "nonlinearity", o.nonlinearity, "bias", o.bias,
                 "batch_first", o.batch_first, "dropout", o.dropout, "bidirectional",
                 o.bidirectional);
  }
};

/// Layers of h' = tanh(x weight_ih^T + bias_ih + h weight_hh^T + bias_hh), or with max(., 0) for
/// tanh (Elman, "Finding Structure in Time", 1990).
class RNN : public Recurrent {
 public:
  RNN(std::int64_t input_size, std::int64_t hidden_size, const RnnOptions& options = {})
      : Recurrent(options.nonlinearity == Nonlinearity::tanh ? RecurrentCell::rnn_tanh
                                                             : RecurrentCell::rnn_relu,
                  input_size, hidden_size,
                  {.num_layers = options.num_layers,
                   .bias = options.bias,
                   .batch_first = options.batch_first,
                   .dropout = options.dropout,
                   .bidirectional = options.bidirectional}) {}
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const {
    const auto [input_size, hidden_size, o] = Recurrent::arguments();
    const bool rectified = cell() == RecurrentCell::rnn_relu;
    const RnnOptions options{.num_layers = o.num_layers,
                             .nonlinearity = rectified ? Nonlinearity::relu : Nonlinearity::tanh,
                             .bias = o.bias,
                             .batch_first = o.batch_first,
                             .dropout = o.dropout,
                             .bidirectional = o.bidirectional};
    return std::tuple(input_size, hidden_size, options);
  }

  /// `auto [output, state] = rnn(x)`, as LSTM, with a hidden state alone.
  [[nodiscard]] std::pair<Tensor, Tensor> forward(const Tensor& x, const Tensor& first = {},
                                                  const Tensor& lengths = {}) const {
    return run(x, {first, {}}, lengths);
  }
};

/// What RNN gives, as functions of its weights; see run_recurrent.
[[nodiscard]] inline std::pair<Tensor, Tensor> rnn_tanh(
    const Tensor& x, const Tensor& first, const std::vector<RecurrentWeights>& weights,
    const RecurrentCall& call = {}) {
  return run_recurrent(RecurrentCell::rnn_tanh, x, {first, {}}, weights, call);
}

[[nodiscard]] inline std::pair<Tensor, Tensor> rnn_relu(
    const Tensor& x, const Tensor& first, const std::vector<RecurrentWeights>& weights,
    const RecurrentCall& call = {}) {
  return run_recurrent(RecurrentCell::rnn_relu, x, {first, {}}, weights, call);
}

}  // namespace tessera::nn
