// What RNN, LSTM and GRU share: their options and parameters.
#pragma once

#include <tuple>
#include <vector>

#include <tessera/nn/layers/recurrent_function.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

struct RecurrentOptions {
  std::int64_t num_layers = 1;  ///< each takes the outputs of the one before
  bool bias = true;
  bool batch_first = false;    ///< x and the output are (B, T, ...), not (T, B, ...)
  double dropout = 0;          ///< in training, of the outputs of all layers but the last
  bool bidirectional = false;  ///< each layer also runs from the last step to the first
  /// lstm: the hidden state is a product of so many numbers, fewer than hidden_size; 0: it is none.
  std::int64_t proj_size = 0;

  static void each(auto& o, const auto& f) {
    visit_fields(f, "num_layers", o.num_layers, "bias", o.bias, "batch_first", o.batch_first,
                 "dropout", o.dropout, "bidirectional", o.bidirectional, "proj_size", o.proj_size);
  }
};

/// A stack of recurrent layers. Parameters begin uniform in +-1 / sqrt(hidden_size) and are named
/// as in PyTorch: weight_ih_l0 (gates hidden, input), weight_hh_l0 (gates hidden, hidden),
/// bias_ih_l0, bias_hh_l0 (gates hidden), with a proj_size weight_hr_l0 (proj_size, hidden), then
/// those of the other direction, which end in _reverse, and of layer 1.
class Recurrent : public Module {
 public:
  /// What the constructor takes to make this again.
  [[nodiscard]] auto arguments() const { return std::tuple(input_size_, hidden_size_, options_); }
  [[nodiscard]] std::string extra_repr() const override;

 protected:
  /// Throws ValueError for sizes that are not positive, for a dropout outside [0, 1], and for a
  /// proj_size that is not in [0, hidden_size) or is not for an lstm.
  Recurrent(RecurrentCell cell, std::int64_t input_size, std::int64_t hidden_size,
            const RecurrentOptions& options);

  /// Calls run_recurrent with the layer's parameters and options.
  [[nodiscard]] RecurrentOutput run(const Tensor& x, const RecurrentStates& first,
                                    const Tensor& lengths) const;
  [[nodiscard]] RecurrentCell cell() const { return cell_; }

 private:
  /// Parameters of one direction of a layer.
  struct Direction {
    Parameter weight_ih, weight_hh, bias_ih, bias_hh, weight_hr;
  };
  [[nodiscard]] std::int64_t directions() const { return options_.bidirectional ? 2 : 1; }
  /// The width of hidden states.
  [[nodiscard]] std::int64_t state_size() const {
    return options_.proj_size > 0 ? options_.proj_size : hidden_size_;
  }
  Direction make_direction(std::int64_t layer, bool reverse);

  RecurrentCell cell_;
  std::int64_t input_size_, hidden_size_;
  RecurrentOptions options_;
  std::vector<Direction> layers_;  ///< layer by layer, in each forwards, then backwards
};

}  // namespace tessera::nn
