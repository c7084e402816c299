// Recurrent layers as functions of their weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include <tessera/core/ops/select.h>
#include <tessera/core/ops/stack.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/layers/gru.h>
#include <tessera/nn/layers/lstm.h>
#include <tessera/nn/layers/recurrent_cells.h>
#include <tessera/nn/layers/rnn.h>

#include "layers.h"
#include "support/error_of.h"
#include "support/expect_close.h"

namespace tessera::nn {
namespace {

using ::testing::HasSubstr;
using testing_support::error_of;
using testing_support::expect_close;

RecurrentWeights random_weights(std::int64_t gates, std::int64_t input, std::int64_t hidden) {
  const std::int64_t lines = gates * hidden;
  return {.weight_ih = randn_f64({lines, input}),
          .weight_hh = randn_f64({lines, hidden}),
          .bias_ih = randn_f64({lines}),
          .bias_hh = randn_f64({lines})};
}

using Cell = std::function<Tensor(const Tensor&, const Tensor&, const RecurrentWeights&)>;

/// (T, B, H): the states behind each step of x (T, B, input).
Tensor stepped(const Cell& cell, const Tensor& x, Tensor hidden, const RecurrentWeights& weights) {
  std::vector<Tensor> states;
  for (std::int64_t t = 0; t < x.size(0); ++t) {
    hidden = cell(select(x, 0, t), hidden, weights);
    states.push_back(hidden);
  }
  return stack(std::vector<TensorRef>(states.begin(), states.end()));
}

TEST(RecurrentFunction, walks_sequences_as_the_cells_step) {
  const Tensor x = randn_f64({5, 2, 3});
  const Tensor first = randn_f64({1, 2, 4});
  const auto one = random_weights(1, 3, 4);
  const auto three = random_weights(3, 3, 4);
  const Tensor start = select(first, 0, 0);
  expect_close(rnn_tanh(x, first, {one}).first, stepped(rnn_tanh_cell, x, start, one));
  expect_close(rnn_relu(x, first, {one}).first, stepped(rnn_relu_cell, x, start, one));
  expect_close(gru(x, first, {three}).first, stepped(gru_cell, x, start, three));
}

TEST(RecurrentFunction, an_lstm_ends_in_the_states_of_its_cells) {
  const Tensor x = randn_f64({5, 2, 3});
  const auto weights = random_weights(4, 3, 4);
  LstmState state;
  for (std::int64_t t = 0; t < 5; ++t) {
    state = lstm_cell(select(x, 0, t), state, weights);
  }
  const auto [y, last] = lstm(x, {}, {weights});
  expect_close(select(y, 0, 4), state.first);
  expect_close(select(last.first, 0, 0), state.first);
  expect_close(select(last.second, 0, 0), state.second);
}

/// The parameters of one direction, by their names.
RecurrentWeights named(const Module& layer, const std::string& suffix) {
  const auto at = [&](const char* name) { return Tensor(layer.get_parameter(name + suffix)); };
  return {at("weight_ih"), at("weight_hh"), at("bias_ih"), at("bias_hh"), at("weight_hr")};
}

TEST(RecurrentFunction, gives_the_bits_of_the_layer_that_holds_the_weights) {
  const auto layer =
      make<LSTM>(3, 4,
                 RecurrentOptions{
                     .num_layers = 2, .batch_first = true, .bidirectional = true, .proj_size = 2});
  const Tensor x = randn({2, 5, 3});
  const Tensor lengths = tensor<std::int64_t>({3, 5});
  const auto [y, state] = layer(x, LstmState{}, lengths);
  const auto [same, last] = lstm(x, {},
                                 {named(*layer, "_l0"), named(*layer, "_l0_reverse"),
                                  named(*layer, "_l1"), named(*layer, "_l1_reverse")},
                                 {.batch_first = true, .bidirectional = true, .lengths = lengths});
  EXPECT_EQ(same.to_vector<float>(), y.to_vector<float>());
  EXPECT_EQ(last.first.to_vector<float>(), state.first.to_vector<float>());
  EXPECT_EQ(last.second.to_vector<float>(), state.second.to_vector<float>());
}

TEST(RecurrentFunction, names_the_weight_that_does_not_fit) {
  const Tensor x = randn_f64({5, 2, 3});
  const auto good = random_weights(3, 3, 4);
  const auto second = random_weights(3, 4, 4);
  EXPECT_NO_THROW(static_cast<void>(gru(x, {}, {good, second})));
  EXPECT_THAT(error_of<InvalidArgument>([&] { return gru(x, {}, {}); }),
              HasSubstr("wrong number of weights"));
  EXPECT_THAT(
      error_of<InvalidArgument>([&] { return gru(x, {}, {good}, {.bidirectional = true}); }),
      HasSubstr("got 1, expected 2 a layer"));
  EXPECT_THAT(error_of<InvalidArgument>([&] {
                return gru(x, {}, {good, good});
              }),
              HasSubstr("gru: wrong weight_ih of weights 1; got (12, 3), expected (12, 4)"));
  auto projected = good;
  projected.weight_hr = randn_f64({2, 4});
  EXPECT_THAT(error_of<InvalidArgument>([&] { return gru(x, {}, {projected}); }),
              HasSubstr("weight_hr"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { return gru(x, {}, {RecurrentWeights{}}); }),
              HasSubstr("need 2 dims"));
  EXPECT_THAT(error_of<InvalidArgument>([&] {
                return lstm_cell(randn_f64({2, 3}), {}, good);
              }),
              HasSubstr("weights do not fit each other"));
  auto biased = good;
  biased.bias_hh = randn_f64({4});
  EXPECT_THAT(error_of<InvalidArgument>([&] {
                return gru_cell(randn_f64({2, 3}), {}, biased);
              }),
              HasSubstr("gru_cell: wrong bias; got (4,), expected (12,)"));
  EXPECT_THAT(error_of<RuntimeError>([&] {
                return gru(randn_f64({5, 2, 4}), {}, {good});
              }),
              HasSubstr("wrong input"));
  EXPECT_THAT(error_of<RuntimeError>([&] {
                return gru(x, randn_f64({1, 2, 5}), {good});
              }),
              HasSubstr("wrong first state"));
  EXPECT_THAT(error_of<RuntimeError>([&] {
                return gru_cell(randn_f64({2, 3}), randn_f64({2, 5}), good);
              }),
              HasSubstr("gru_cell: wrong state"));
}

}  // namespace
}  // namespace tessera::nn
