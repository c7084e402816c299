// Single steps of recurrent layers, written out in public ops: slower than the layers, and
// differentiable any number of times.
#pragma once

#include <optional>
#include <tuple>
#include <utility>

#include <tessera/nn/layers/lstm.h>
#include <tessera/nn/layers/rnn.h>

namespace tessera::nn {

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
  Parameter bias_hh;    ///< likewise

 protected:
  /// Throws ValueError for sizes that are not positive.
  RecurrentCellBase(RecurrentCell cell, std::int64_t input_size, std::int64_t hidden_size,
                    bool bias);

  /// The parts of the gates that come from x (B, input_size) and from the hidden state (B,
  /// hidden_size), zeros where undefined. Throws RuntimeError for other shapes.
  struct Gates {
    Tensor x, hidden;
  };
  [[nodiscard]] Gates gates(const Tensor& x, const Tensor& hidden) const;
  /// `state`, or zeros to fit x.
  [[nodiscard]] Tensor or_zeros(const Tensor& state, const Tensor& x) const;
  [[nodiscard]] std::int64_t hidden_size() const { return weight_hh.shape()[1]; }
};

struct RnnCellOptions {
  bool bias = true;
  Nonlinearity nonlinearity = Nonlinearity::tanh;

  template <class Self, class F>
  static void each(Self& options, const F& f) {
    f("bias", options.bias);
    f("nonlinearity", options.nonlinearity);
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
  [[nodiscard]] LstmState forward(const Tensor& x, const LstmState& state = {}) const;
};

/// One step of a GRU: (x, h) to h'.
class GRUCell : public RecurrentCellBase {
 public:
  GRUCell(std::int64_t input_size, std::int64_t hidden_size, bool bias = true)
      : RecurrentCellBase(RecurrentCell::gru, input_size, hidden_size, bias) {}
  [[nodiscard]] Tensor forward(const Tensor& x, const Tensor& hidden = {}) const;
};

}  // namespace tessera::nn
