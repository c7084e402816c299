#include <tessera/core/ops/recurrent.h>

#include <gtest/gtest.h>

#include "ops/gradients.h"
#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using testing_support::expect_gradients;
using testing_support::expect_same_bits_for_all_passes;
using testing_support::Inputs;
using testing_support::loss_of_samples;
using testing_support::numbers;

void set_dtype(RecurrentAttrs& attrs, DType dtype) {
  attrs.dtype = dtype;
}

/// In 16 bits the states are rounded from step to step: see the test of bf16 below.
const std::vector<DType> kExact{DType::f32, DType::f64};

using Sample = OpCase<Recurrent>::Sample;

/// B = 4, T = 3, H = 2, starting from zeros, or from given states over sequences of given lengths.
std::vector<Sample> samples_of(RecurrentCell cell) {
  const std::int64_t gates = 2 * gates_of(cell);
  const InputSpec first_cell = cell == RecurrentCell::lstm ? real({4, 2}) : absent();
  const InputSpec lengths = given({4}, {3, 1, 0, 2}, DType::i64);
  return {
      {.inputs = {real({4, 3, gates}), real({gates, 2}), absent(), absent(), absent(), absent()},
       .attrs = {.cell = cell}},
      {.inputs = {real({4, 3, gates}), real({gates, 2}), real({gates}), real({4, 2}), first_cell,
                  lengths},
       .attrs = {.cell = cell}},
      {.inputs = {real({4, 3, gates}), real({gates, 2}), real({gates}), absent(), absent(),
                  lengths},
       .attrs = {.cell = cell, .reverse = true}}};
}

OpCase<Recurrent> case_of(const char* variant, RecurrentCell cell) {
  const std::int64_t gates = 2 * gates_of(cell);
  const InputSpec x = real({4, 3, gates});
  const InputSpec weight = real({gates, 2});
  const RecurrentAttrs attrs{.cell = cell};
  return {
      .variant = variant,
      .samples = samples_of(cell),
      .wrong = {{{real({4, gates}), weight}, attrs},
                {{x, real({gates, 3})}, attrs},
                {{x, weight, real({2 * gates})}, attrs},
                {{x, weight, absent(), real({4, 3})}, attrs},
                {{x, weight, absent(), absent(), real({3, 2})}, attrs},
                {{x, weight, absent(), absent(), absent(), integers({3}, 0, 3)}, attrs},
                {{x, weight, absent(), absent(), absent(), real({4})}, attrs},
                {{x, weight, absent(), absent(), absent(), given({4}, {1, 4, 1, 1}, DType::i64)},
                 attrs},
                {{integers({4, 3, gates}, 0, 2), weight}, attrs}},
      .dtypes = kExact,
      .tolerance = {.ulps = 8, .of_largest = 8},
      .set_dtype = set_dtype,
      .second_gradient = SecondGradient::refused,
      .gradient_outputs = cell == RecurrentCell::lstm ? 3 : 2};
}

const RegisterOpCase<Recurrent> kRecurrentTanh{case_of("_tanh", RecurrentCell::rnn_tanh)};
const RegisterOpCase<Recurrent> kRecurrentRelu{case_of("_relu", RecurrentCell::rnn_relu)};
const RegisterOpCase<Recurrent> kRecurrentLstm{case_of("_lstm", RecurrentCell::lstm)};
const RegisterOpCase<Recurrent> kRecurrentGru{case_of("_gru", RecurrentCell::gru)};

/// What the forward op keeps, from the inputs of its backward op.
InputSpec kept(RecurrentCell cell, std::size_t output) {
  return derived([=](const std::vector<Tensor>& in) {
    const Tensor x = full({4, 3, 2 * gates_of(cell)}, 0.25, {.dtype = in[0].dtype()});
    return call_all<Recurrent>({x, in[3]}, {.cell = cell, .dtype = in[0].dtype()})[output];
  });
}

OpCase<RecurrentBackward> backward_case_of(const char* variant, RecurrentCell cell) {
  const bool lstm = cell == RecurrentCell::lstm;
  const auto first = static_cast<std::size_t>(2 + lstm);
  const InputSpec weight = real({2 * gates_of(cell), 2});
  const InputSpec cells = lstm ? kept(cell, 5) : absent();
  const InputSpec lengths = given({4}, {3, 1, 0, 2}, DType::i64);
  const InputSpec before = kept(cell, first);
  const InputSpec values = kept(cell, first + 1);
  const RecurrentAttrs attrs{.cell = cell};
  return {
      .variant = variant,
      .samples = {{{real({4, 3, 2}), absent(), absent(), weight, absent(), before, values, cells},
                   attrs},
                  {{real({4, 3, 2}), real({4, 2}), lstm ? real({4, 2}) : absent(), weight, lengths,
                    before, values, cells},
                   attrs}},
      .wrong = {{{real({4, 3}), absent(), absent(), weight, absent(), before, values, cells},
                 attrs},
                {{real({4, 3, 2}), real({4, 3}), absent(), weight, absent(), before, values, cells},
                 attrs}},
      .dtypes = kExact,
      .tolerance = {.ulps = 8, .of_largest = 8},
      .set_dtype = set_dtype,
      .gradient = false,  // Unsupported: second derivatives of the layer
      .spreads_nan = true};
}

const RegisterOpCase<RecurrentBackward> kRecurrentBackwardTanh{
    backward_case_of("_tanh", RecurrentCell::rnn_tanh)};
const RegisterOpCase<RecurrentBackward> kRecurrentBackwardRelu{
    backward_case_of("_relu", RecurrentCell::rnn_relu)};
const RegisterOpCase<RecurrentBackward> kRecurrentBackwardLstm{
    backward_case_of("_lstm", RecurrentCell::lstm)};
const RegisterOpCase<RecurrentBackward> kRecurrentBackwardGru{
    backward_case_of("_gru", RecurrentCell::gru)};

TEST(Recurrent, gives_nothing_beyond_the_lengths_and_the_last_state_at_them) {
  const Tensor x = numbers({2, 3, 4}, 1);
  const Tensor weight = numbers({4, 4}, 2);
  const Tensor lengths = tensor<std::int64_t>({1, 3});
  for (const bool reverse : {false, true}) {
    const auto result =
        recurrent(RecurrentCell::rnn_tanh, x, weight, {}, {.lengths = lengths}, reverse);
    const auto y = result.output.to_vector<double>();
    const auto last = result.hidden.to_vector<double>();
    const std::size_t end = reverse ? 12 : 20;  // of the second sequence
    for (std::size_t j = 0; j < 4; ++j) {
      EXPECT_EQ(y[j], last[j]);
      EXPECT_EQ(y[4 + j], 0);
      EXPECT_EQ(y[8 + j], 0);
      EXPECT_EQ(y[end + j], last[4 + j]);
    }
  }
}

TEST(Recurrent, may_be_run_in_pieces) {
  const Tensor x = numbers({2, 4, 8}, 1);
  const Tensor weight = numbers({8, 2}, 2);
  const auto part = [&](std::int64_t first) {
    Tensor piece = empty({2, 2, 8}, {.dtype = DType::f64});
    for (std::int64_t i = 0; i < piece.numel(); ++i) {
      piece.data<double>()[i] = x.data<double>()[i / 16 * 32 + first * 8 + i % 16];
    }
    return piece;
  };
  const auto whole = recurrent(RecurrentCell::lstm, x, weight, {});
  const auto begin = recurrent(RecurrentCell::lstm, part(0), weight, {});
  const auto end = recurrent(RecurrentCell::lstm, part(2), weight, {},
                             {.hidden = begin.hidden, .cell = begin.cell});
  EXPECT_EQ(end.hidden.to_vector<double>(), whole.hidden.to_vector<double>());
  EXPECT_EQ(end.cell.to_vector<double>(), whole.cell.to_vector<double>());
}

TEST(Recurrent, bits_do_not_depend_on_passes) {
  for (const RecurrentCell cell :
       {RecurrentCell::rnn_tanh, RecurrentCell::lstm, RecurrentCell::gru}) {
    const std::int64_t gates = 6 * gates_of(cell);
    const auto loss = [cell](const Inputs& p, const Inputs& x) {
      return loss_of_samples(recurrent(cell, x[0], p[0], p[1]).output);
    };
    expect_same_bits_for_all_passes(
        loss, {numbers({gates, 6}, 2, DType::f32), numbers({gates}, 3, DType::f32)},
        {numbers({8, 5, gates}, 1, DType::f32)});
  }
}

TEST(Recurrent, stays_near_in_bf16) {
  for (const RecurrentCell cell : {RecurrentCell::rnn_tanh, RecurrentCell::rnn_relu,
                                   RecurrentCell::lstm, RecurrentCell::gru}) {
    const std::int64_t gates = 6 * gates_of(cell);
    const auto gradients = [&](DType dtype) {
      Tensor x = cast(numbers({3, 5, gates}, 1, DType::bf16), dtype).set_requires_grad(true);
      const Tensor weight = cast(numbers({gates, 6}, 2, DType::bf16), dtype) * 0.5;
      const auto result = recurrent(cell, x, weight, {});
      testing_support::weighted_sum(cast(result.output, DType::f64)).backward();
      auto all = result.output.to_vector<double>();
      const auto of_x = x.grad().to_vector<double>();
      all.insert(all.end(), of_x.begin(), of_x.end());
      return all;
    };
    const auto exact = gradients(DType::f64);
    const auto rounded = gradients(DType::bf16);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      EXPECT_NEAR(rounded[i], exact[i], 0.02) << static_cast<int>(cell) << ' ' << i;
    }
  }
}

TEST(Recurrent, says_that_second_derivatives_are_not_supported) {
  Tensor x = numbers({1, 2, 2}, 1).set_requires_grad(true);
  const Tensor y = sum_to(recurrent(RecurrentCell::rnn_tanh, x, numbers({2, 2}, 2), {}).output, {});
  const auto first = grad(std::array{y}, std::array{x}, {}, {.create_graph = true});
  EXPECT_THROW(static_cast<void>(grad(std::array{sum_to(first[0], {})}, std::array{x})),
               Unsupported);
}

}  // namespace
}  // namespace tessera
