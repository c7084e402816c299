// Recurrent layers over whole sequences, in one direction, forward and backward through time.
//
// A task is a run of blocks of units of one step: for each it multiplies the hidden states of a few
// sequences at a time by its columns of the weights, which are packed once a call, and runs the
// cell on the sums while they are near. Every sum is one chain over the units, so bits depend
// neither on threads nor on how many sequences there are.
#pragma once

#include <cstdint>

#include <tessera/core/ops/recurrent.h>
#include <tessera/kernels/cpu/gemm.h>

namespace tessera::cpu {

/// What both directions take. Tensors [batch, steps, ...] are of `dtype`, f32 or bf16, in which
/// factors are multiplied too, and the rest is f32; or all of it is f64.
struct RecurrentCall {
  RecurrentCell cell = RecurrentCell::rnn_tanh;
  bool reverse = false;
  DType dtype = DType::f32;
  std::int64_t batch = 0, steps = 0, width = 0;
  Matrix weight;                          ///< [gates width, width]
  const std::int64_t* lengths = nullptr;  ///< [batch], in [0, steps]

  [[nodiscard]] std::int64_t gates() const { return gates_of(cell); }
  [[nodiscard]] std::int64_t kept() const { return kept_of(cell); }
  /// True where what is written for all steps is so much that it bypasses the caches.
  [[nodiscard]] bool past_caches() const;
};

template <class Number>
struct RecurrentForwardOf : RecurrentCall {
  const void* x = nullptr;        ///< [batch, steps, gates width]
  const Number* bias = nullptr;   ///< [gates width], may be null
  const Number* start = nullptr;  ///< [batch, width], may be null
  const Number* start_cell = nullptr;
  void* output = nullptr;       ///< [batch, steps, width]
  Number* last = nullptr;       ///< [batch, width]
  Number* last_cell = nullptr;  ///< lstm
  void* before = nullptr;       ///< [batch, steps, width]
  void* kept_values = nullptr;  ///< [batch, steps, kept width]
  Number* cells = nullptr;      ///< [batch, steps, width], lstm
};
using RecurrentForward = RecurrentForwardOf<float>;
using RecurrentForwardF64 = RecurrentForwardOf<double>;
template <class Number>
void recurrent_forward(const RecurrentForwardOf<Number>&);

template <class Number>
struct RecurrentBackwardOf : RecurrentCall {
  const void* output = nullptr;       ///< gradient [batch, steps, width]
  const Number* last = nullptr;       ///< gradient [batch, width], may be null
  const Number* last_cell = nullptr;  ///< gradient [batch, width], may be null
  const void* before = nullptr;
  const void* kept_values = nullptr;
  const Number* cells = nullptr;
  void* to_x = nullptr;        ///< [batch, steps, gates width]
  void* to_hidden = nullptr;   ///< [batch, steps, gates width], gru
  Number* to_start = nullptr;  ///< [batch, width]
  Number* to_start_cell = nullptr;
};
using RecurrentBackward = RecurrentBackwardOf<float>;
using RecurrentBackwardF64 = RecurrentBackwardOf<double>;
template <class Number>
void recurrent_backward(const RecurrentBackwardOf<Number>&);

}  // namespace tessera::cpu
