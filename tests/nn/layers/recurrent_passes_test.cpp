// Recurrent layers in ordinary ops give the same bits however many microbatches share a pass.
#include <gtest/gtest.h>

#include <tessera/core/ops/add.h>
#include <tessera/core/ops/concat.h>
#include <tessera/core/ops/linear.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/nn/layers/lstm.h>
#include <tessera/nn/layers/projected_lstm.h>
#include <tessera/nn/layers/recurrent_cells.h>

#include "ops/gradients.h"

namespace tessera::nn {
namespace {

using testing_support::Inputs;
using testing_support::numbers;

/// Of 4 steps, 3 cells and 2 projected numbers: inputs, weights and bias.
Inputs weights() {
  return {numbers({12, 5}, 1, DType::f32), numbers({12, 2}, 2, DType::f32),
          numbers({12}, 3, DType::f32), numbers({2, 3}, 4, DType::f32)};
}

Tensor loss_of(const RecurrentResult& result) {
  return mean(result.output * result.output) + mean(result.hidden) + mean(result.cell);
}

TEST(RecurrentPasses, projected_lstm_from_nothing) {
  for (const bool reverse : {false, true}) {
    testing_support::expect_same_bits_for_all_passes(
        [&](const Inputs& p, const Inputs& in) {
          return loss_of(projected_lstm(linear(in[0], p[0]), p[1], p[2], p[3], {}, reverse));
        },
        weights(), {numbers({8, 4, 5}, 5, DType::f32)});
  }
}

TEST(RecurrentPasses, projected_lstm_from_states_with_lengths) {
  testing_support::expect_same_bits_for_all_passes(
      [](const Inputs& p, const Inputs& in) {
        const RecurrentStart start{in[1], in[2], in[3]};
        return loss_of(projected_lstm(linear(in[0], p[0]), p[1], p[2], p[3], start, true));
      },
      weights(),
      {numbers({8, 4, 5}, 5, DType::f32), numbers({8, 2}, 6, DType::f32),
       numbers({8, 3}, 7, DType::f32), tensor<std::int64_t>({4, 1, 2, 0, 3, 4, 2, 1})});
}

TEST(RecurrentPasses, cells_from_nothing) {
  const auto lstm = make<LSTMCell>(3, 2);
  const auto gru = make<GRUCell>(3, 2);
  testing_support::expect_same_bits_for_all_passes(
      [&](const Inputs& p, const Inputs& in) {
        const Tensor x = linear(in[0], p[0]);
        return mean(lstm(x).first * gru(x));
      },
      {numbers({3, 5}, 1, DType::f32)}, {numbers({8, 5}, 2, DType::f32)});
}

}  // namespace
}  // namespace tessera::nn
