// Single steps of recurrent layers, written out in public ops: slower than the layers, and
// differentiable any number of times.
#pragma once

#include <tuple>

#include <tessera/nn/layers/lstm.h>
#include <tessera/nn/layers/rnn.h>

namespace tessera::nn {

/// The cells as functions of weights without weight_hr. x (B, input) or (input), states (B, H) or
/// (H), zeros where undefined, give the next states. Throws InvalidArgument for weights that do not
/// fit each other, RuntimeError for an x or a state that does not fit them.
[[nodiscard]] Tensor rnn_tanh_cell(const Tensor& x, const Tensor& hidden,
                                   const RecurrentWeights& weights);
[[nodiscard]] Tensor rnn_relu_cell(const Tensor& x, const Tensor& hidden,
                                   const RecurrentWeights& weights);
[[nodiscard]] LstmState lstm_cell(const Tensor& x, const LstmState& state,
                                  const RecurrentWeights& weights);
[[nodiscard]] Tensor gru_cell(const Tensor& x, const Tensor& hidden,
                              const RecurrentWeights& weights);

/// What the cells share: parameters as of a layer, without a suffix.
class RecurrentCellBase : public Module {
 public:
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const {
    return std::tuple(weight_ih.declared_shape()[1], weight_hh.declared_shape()[1],
                      bias_ih.defined());
  }
  [[nodiscard]] std::string extra_repr() const override;

  Parameter weight_ih;  ///< (gates * hidden_size, input_size)
  Parameter weight_hh;  ///< (gates * hidden_size, hidden_size)
  Parameter bias_ih;    ///< (gates * hidden_size); undefined without bias
  Parameter bias_hh;    ///< (gates * hidden_size); undefined without bias

 protected:
  /// Throws ValueError for sizes that are not positive.
  RecurrentCellBase(RecurrentCell cell, std::int64_t input_size, std::int64_t hidden_size,
                    bool bias);

  [[nodiscard]] RecurrentWeights weights() const {
    return {weight_ih, weight_hh, bias_ih, bias_hh, {}};
  }
  [[nodiscard]] std::int64_t hidden_size() const { return weight_hh.shape()[1]; }
};

struct RnnCellOptions {
  bool bias = true;
  Nonlinearity nonlinearity = Nonlinearity::tanh;

  static void each(auto& o, const auto& f) {
    visit_fields(f, "bias", o.bias, "nonlinearity", o.nonlinearity);
  }
};

/// One step of an RNN: (x, h) to h'.
class RNNCell : public RecurrentCellBase {
 public:
  RNNCell(std::int64_t input_size, std::int64_t hidden_size, const RnnCellOptions& options = {})
      : RecurrentCellBase(RecurrentCell::rnn_tanh, input_size, hidden_size, options.bias),
        nonlinearity_(options.nonlinearity) {}
  [[nodiscard]] Tensor forward(const Tensor& x, const Tensor& hidden = {}) const;
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const {
    const auto [input_size, hidden_size, bias] = RecurrentCellBase::arguments();
    const RnnCellOptions options{.bias = bias, .nonlinearity = nonlinearity_};
    return std::tuple(input_size, hidden_size, options);
  }
  [[nodiscard]] std::string extra_repr() const override;

 private:
  Nonlinearity nonlinearity_;
};

/// One step of an LSTM: (x, (h, c)) to (h', c').
class LSTMCell : public RecurrentCellBase {
 public:
  LSTMCell(std::int64_t input_size, std::int64_t hidden_size, bool bias = true)
      : RecurrentCellBase(RecurrentCell::lstm, input_size, hidden_size, bias) {}
  [[nodiscard]] LstmState forward(const Tensor& x, const LstmState& state = {}) const {
    return lstm_cell(x, state, weights());
  }
};

/// One step of a GRU: (x, h) to h'.
class GRUCell : public RecurrentCellBase {
 public:
  GRUCell(std::int64_t input_size, std::int64_t hidden_size, bool bias = true)
      : RecurrentCellBase(RecurrentCell::gru, input_size, hidden_size, bias) {}
  [[nodiscard]] Tensor forward(const Tensor& x, const Tensor& hidden = {}) const {
    return gru_cell(x, hidden, weights());
  }
};

}  // namespace tessera::nn
