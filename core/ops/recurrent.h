// A recurrent layer over whole sequences, in one direction, and its gradient.
//
// B sequences of T steps, H hidden units. With x the input's part of the gates and u the hidden
// state's, u = h weight^T + bias, gate by gate:
//
//   rnn   h' = tanh(x + u), or max(x + u, 0)
//   lstm  (i f g o) = (s s tanh s)(x + u),  c' = f c + i g,  h' = o tanh(c')
//   gru   (r z) = s(x + u),  n = tanh(x_n + r u_n),  h' = (1 - z) n + z h
//
// where s is the logistic function (Elman 1990; Hochreiter and Schmidhuber 1997, with forget gates;
// Cho et al. 2014, as PyTorch computes it).
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

enum class RecurrentCell : std::uint8_t { rnn_tanh, rnn_relu, lstm, gru };

std::ostream& operator<<(std::ostream&, RecurrentCell);

struct RecurrentAttrs {
  RecurrentCell cell = RecurrentCell::rnn_tanh;
  bool reverse = false;      ///< from the last step to the first
  DType dtype = DType::f32;  ///< of all that has T steps; factors are rounded to it
  void fields(auto&& see) const { see("cell", cell), see("reverse", reverse), see("dtype", dtype); }
  friend bool operator==(const RecurrentAttrs&, const RecurrentAttrs&) = default;
};

/// Gates of a step: G.
[[nodiscard]] constexpr int gates_of(RecurrentCell cell) noexcept {
  return cell == RecurrentCell::lstm ? 4 : cell == RecurrentCell::gru ? 3 : 1;
}
/// Values that a step keeps for its gradient: the gates behind their functions, and u_n of a gru.
[[nodiscard]] constexpr int kept_of(RecurrentCell cell) noexcept {
  return cell == RecurrentCell::gru ? 4 : gates_of(cell);
}

/// Inputs: x (B, T, G H), weight (G H, H), and optionally bias (G H), the first hidden state (B,
/// H), the first cell state (B, H; lstm only), lengths (B). Outputs: the hidden states (B, T, H),
/// 0 beyond the lengths, the last hidden state (B, H), of an lstm the last cell state (B, H), and,
/// kept for the gradient, the hidden states before each step (B, T, H), values of each step (B, T,
/// kept H), and of an lstm the cell states before each step (B, T, H). First, last and cell states
/// are f32 (f64 for f64).
struct Recurrent {
  static constexpr OpInfo info{.name = "recurrent",
                               .doc = "a recurrent layer over whole sequences, in one direction",
                               .saved_inputs = 0b100010,
                               .saved_outputs = 0b111100};
  using Attrs = RecurrentAttrs;
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// Inputs: the gradients of the hidden states (B, T, H), of the last hidden and of the last cell
/// state (B, H) or none, then weight, lengths or none, and what the forward op kept: hidden states,
/// values, cell states. Outputs: the gradients of x, of the first hidden state, of the first cell
/// state (lstm only) and, of a gru, of u (B, T, G H); of others that is the one of x.
struct RecurrentBackward {
  static constexpr OpInfo info{.name = "recurrent_backward",
                               .doc = "the gradients of recurrent, through time"};
  using Attrs = RecurrentAttrs;
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// What a layer starts from, and which steps it takes; all may be undefined.
struct RecurrentStart {
  Tensor hidden;   ///< (B, H); zeros by default
  Tensor cell;     ///< (B, H), of an lstm; zeros by default
  Tensor lengths;  ///< (B), integers in [0, T]: of each sequence; T by default
};

struct RecurrentResult {
  Tensor output;  ///< (B, T, H), 0 beyond the lengths
  Tensor hidden;  ///< (B, H), behind the last step taken
  Tensor cell;    ///< (B, H), of an lstm
};

/// Runs the cell over x (B, T, G H), the input's part of the gates. Gates have PyTorch's order.
/// Second derivatives are not supported: write the steps out for them.
[[nodiscard]] RecurrentResult recurrent(RecurrentCell cell, const Tensor& x, const Tensor& weight,
                                        const Tensor& bias, const RecurrentStart& start = {},
                                        bool reverse = false);

}  // namespace tessera
