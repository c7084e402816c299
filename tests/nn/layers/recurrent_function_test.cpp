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

#include "support/expect_close.h"

namespace tessera::nn {
namespace {

using testing::expect_close;
using ::testing::HasSubstr;

Tensor doubles(const Shape& shape) {
  return randn(shape, {.dtype = DType::f64});
}

RecurrentWeights weights_of(std::int64_t gates, std::int64_t input, std::int64_t hidden) {
  const std::int64_t lines = gates * hidden;
  return {.weight_ih = doubles({lines, input}),
          .weight_hh = doubles({lines, hidden}),
          .bias_ih = doubles({lines}),
          .bias_hh = doubles({lines})};
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
  const Tensor x = doubles({5, 2, 3});
  const Tensor first = doubles({1, 2, 4});
  const auto one = weights_of(1, 3, 4);
  const auto three = weights_of(3, 3, 4);
  const Tensor start = select(first, 0, 0);
  expect_close(rnn_tanh(x, first, {one}).first, stepped(rnn_tanh_cell, x, start, one));
  expect_close(rnn_relu(x, first, {one}).first, stepped(rnn_relu_cell, x, start, one));
  expect_close(gru(x, first, {three}).first, stepped(gru_cell, x, start, three));
}

TEST(RecurrentFunction, an_lstm_ends_in_the_states_of_its_cells) {
  const Tensor x = doubles({5, 2, 3});
  const auto weights = weights_of(4, 3, 4);
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

/// What `call` says when it throws E.
template <class E, class F>
std::string refusal(const F& call) {
  try {
    static_cast<void>(call());
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(RecurrentFunction, names_the_weight_that_does_not_fit) {
  const Tensor x = doubles({5, 2, 3});
  const auto good = weights_of(3, 3, 4);
  const auto second = weights_of(3, 4, 4);
  EXPECT_NO_THROW(static_cast<void>(gru(x, {}, {good, second})));
  EXPECT_THAT(refusal<InvalidArgument>([&] { return gru(x, {}, {}); }),
              HasSubstr("wrong number of weights"));
  EXPECT_THAT(refusal<InvalidArgument>([&] { return gru(x, {}, {good}, {.bidirectional = true}); }),
              HasSubstr("got 1, expected 2 a layer"));
  EXPECT_THAT(refusal<InvalidArgument>([&] {
                return gru(x, {}, {good, good});
              }),
              HasSubstr("gru: wrong weight_ih of weights 1; got (12, 3), expected (12, 4)"));
  auto projected = good;
  projected.weight_hr = doubles({2, 4});
  EXPECT_THAT(refusal<InvalidArgument>([&] { return gru(x, {}, {projected}); }),
              HasSubstr("weight_hr"));
  EXPECT_THAT(refusal<InvalidArgument>([&] { return gru(x, {}, {RecurrentWeights{}}); }),
              HasSubstr("need 2 dims"));
  EXPECT_THAT(refusal<InvalidArgument>([&] {
                return lstm_cell(doubles({2, 3}), {}, good);
              }),
              HasSubstr("weights do not fit each other"));
  auto biased = good;
  biased.bias_hh = doubles({4});
  EXPECT_THAT(refusal<InvalidArgument>([&] {
                return gru_cell(doubles({2, 3}), {}, biased);
              }),
              HasSubstr("gru_cell: wrong bias; got (4,), expected (12,)"));
  EXPECT_THAT(refusal<RuntimeError>([&] {
                return gru(doubles({5, 2, 4}), {}, {good});
              }),
              HasSubstr("wrong input"));
  EXPECT_THAT(refusal<RuntimeError>([&] {
                return gru(x, doubles({1, 2, 5}), {good});
              }),
              HasSubstr("wrong first state"));
  EXPECT_THAT(refusal<RuntimeError>([&] {
                return gru_cell(doubles({2, 3}), doubles({2, 5}), good);
              }),
              HasSubstr("gru_cell: wrong state"));
}

}  // namespace
}  // namespace tessera::nn
