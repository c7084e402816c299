// An LSTM whose hidden state is a product of fewer numbers than its cell state has.
#pragma once

#include <tessera/core/ops/recurrent.h>

namespace tessera::nn {

/// An lstm over x (B, T, 4 H) like that of `recurrent`, but that h' = (o tanh(c')) weight_hr^T:
/// weight_hr is (P, H), weight_hh (4 H, P), hidden states are (B, P) and the output (B, T, P).
/// Written out in ordinary ops, which keep cell states in f32 (f64 for f64). Throws InvalidArgument
/// for lengths that are not (B) integers in [0, T].
[[nodiscard]] RecurrentResult projected_lstm(const Tensor& x, const Tensor& weight_hh,
                                             const Tensor& bias_hh, const Tensor& weight_hr,
                                             const RecurrentStart& start, bool reverse);

}  // namespace tessera::nn
