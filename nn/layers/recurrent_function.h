// RNN, LSTM and GRU as functions of their weights: rnn.h, lstm.h and gru.h say which.
#pragma once

#include <utility>
#include <vector>

#include <tessera/core/ops/recurrent.h>

namespace tessera::nn {

/// Weights of one direction of a layer of H hidden units, with G gates and S numbers in a hidden
/// state; what is undefined is none.
struct RecurrentWeights {
  Tensor weight_ih = {};  ///< (G H, input)
  Tensor weight_hh = {};  ///< (G H, S)
  Tensor bias_ih = {};    ///< (G H)
  Tensor bias_hh = {};    ///< (G H)
  Tensor weight_hr = {};  ///< (S, H), of an lstm: a hidden state is a product; without it S is H
};

struct RecurrentCall {
  bool batch_first = false;    ///< x and the output are (B, T, ...), not (T, B, ...)
  double dropout = 0;          ///< of the outputs of all layers but the last
  bool bidirectional = false;  ///< each layer also runs from the last step to the first
  Tensor lengths = {};         ///< (B), integers in [0, T]; T by default
};

/// What a direction of a layer starts from or ends in, one below the other: (layers * directions,
/// B, state size).
struct RecurrentStates {
  Tensor hidden;  ///< of S numbers
  Tensor cell;    ///< of an lstm, of H numbers
};

struct RecurrentOutput {
  Tensor output;
  RecurrentStates last;

  /// What layers without and with a cell return.
  operator std::pair<Tensor, Tensor>() const { return {output, last.hidden}; }
  operator std::pair<Tensor, std::pair<Tensor, Tensor>>() const {
    return {output, {last.hidden, last.cell}};
  }
};

/// x (T, B, input), or (B, T, input) with batch_first, or (T, input) without a batch, through
/// `weights`, layer by layer, in each forwards, then backwards. Undefined states are zeros. Throws
/// InvalidArgument for weights that do not fit each other, RuntimeError for an x or states that do
/// not fit them.
[[nodiscard]] RecurrentOutput run_recurrent(RecurrentCell cell, const Tensor& x,
                                            const RecurrentStates& first,
                                            const std::vector<RecurrentWeights>& weights,
                                            const RecurrentCall& call);

}  // namespace tessera::nn
