#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include <tessera/core/autograd/checkpoint.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/log.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/layers/gru.h>
#include <tessera/nn/layers/lstm.h>
#include <tessera/nn/layers/recurrent_cells.h>
#include <tessera/nn/layers/rnn.h>

#include "layers.h"
#include "support/expect_numbers.h"

namespace tessera::nn {
namespace {

using testing_support::Doubles;
using testing_support::expect_numbers;

/// sin(3 i + seed) as element i.
Tensor waves(const Shape& shape, double seed) {
  Tensor x = empty(shape, {.dtype = DType::f64});
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    x.data<double>()[i] = std::sin(3.0 * static_cast<double>(i) + seed);
  }
  return x;
}

Tensor dot(const Tensor& x, double seed) {
  return sum_to(x * waves(x.shape(), seed), {});
}

/// Parameter i holds waves of seed i, in f64.
template <class M>
Ptr<M> with_waves(const Ptr<M>& module) {
  module->to(DType::f64);
  StateDict state;
  for (const auto& [name, parameter] : module->named_parameters()) {
    state.set(name, waves(parameter.shape(), static_cast<double>(state.size())));
  }
  module->load_state_dict(state);
  return module;
}

/// In f64.
void expect_exact(const Doubles& actual, const Doubles& expected) {
  expect_numbers(actual, expected, 1e-12);
}

/// Every `step`-th element.
Doubles some(const Tensor& x, std::size_t step) {
  const auto all = x.to_vector<double>();
  Doubles taken;
  for (std::size_t i = 0; i < all.size(); i += step) {
    taken.push_back(all[i]);
  }
  return taken;
}

const RecurrentOptions kTwoBothWays{.num_layers = 2, .bidirectional = true};

/// What PyTorch gives for packed sequences of lengths 2, 4 and 1, T = 4.
struct Expected {
  Doubles output, hidden, cell;
  double loss;
  Doubles to_x, to_parameters;
};

Tensor packed_lengths() {
  return tensor<std::int64_t>({2, 4, 1});
}

template <class M>
void expect_packed(const Ptr<M>& module, const Tensor& x, const Tensor& output,
                   const Tensor& hidden, const Tensor& loss, const Expected& expected) {
  const auto y = output.to_vector<double>();
  Doubles chosen;
  for (const std::size_t first : {0U, 12U, 40U}) {
    chosen.insert(chosen.end(), y.begin() + first, y.begin() + first + 4);
  }
  expect_exact(chosen, expected.output);
  expect_exact(some(hidden, 5), expected.hidden);
  EXPECT_NEAR(loss.item(), expected.loss, 1e-12);
  EXPECT_EQ(select(select(output, 0, 1), 0, 2).to_vector<double>(), Doubles(4));
  loss.backward();
  expect_exact(some(x.grad(), 7), expected.to_x);
  Doubles sums;
  for (const Parameter& parameter : module->parameters()) {
    sums.push_back(dot(parameter.grad(), 0.4).item());
  }
  expect_exact(sums, expected.to_parameters);
}

TEST(RNN, equals_pytorch_on_packed_sequences) {
  const auto rnn = with_waves(make<RNN>(3, 2, RnnOptions{.num_layers = 2, .bidirectional = true}));
  const Tensor x = waves({4, 3, 3}, 0.5).set_requires_grad(true);
  const auto [y, h] = rnn(x, waves({4, 3, 2}, 0.25), packed_lengths());
  expect_packed(
      rnn, x, y, h, dot(y, 0.1) + dot(h, 0.2),
      {{-0.90012928147187, 0.76980990764413, 0.9486587359977, -0.9854308941261, -0.99429121057576,
        -0.052609734584582, 0.94929806994911, -0.81599079767154, -0.9686785817177, 0.55177738863138,
        0.87663300756574, -0.96077774436771},
       {0.94123894407046, -0.98556578090957, 0.99598957335015, 0.55177738863138, 0.72920219302224},
       {},
       -1.3098704967629,
       {0.70994964413201, -0.17628545435706, -0.022383348051101, -0.12017350584117, 0, 0},
       {0.0029947450273776, 0.15150488964332, -0.093604739121263, -0.093604739121263,
        0.77238079269005, -0.65028420614155, 0.21857516114358, 0.21857516114358, -0.4700785266977,
        0.87160962367446, -1.1816952369486, -1.1816952369486, -1.3756228788255, -0.60978123790504,
        -0.93813087911892, -0.93813087911892}});
}

TEST(LSTM, equals_pytorch_on_packed_sequences) {
  const auto lstm = with_waves(make<LSTM>(3, 2, kTwoBothWays));
  const Tensor x = waves({4, 3, 3}, 0.5).set_requires_grad(true);
  const LstmState first{waves({4, 3, 2}, 0.25), waves({4, 3, 2}, 0.75)};
  const auto [y, state] = lstm(x, first, packed_lengths());
  const auto& [h, c] = state;
  const Expected expected{
      {-0.011978726742947, -0.06229309382004, 0.4901168652645, -0.017445379328893,
       -0.081846994560798, -0.048892015676166, -0.12823147911937, 0.105379188686,
       -0.097361514763658, -0.067629357320124, 0.0019720572158313, 0.038798942146163},
      {-0.063312971423077, -0.019826943057889, -0.076517387940168, -0.067629357320124,
       0.68420844243348},
      {-0.10712957724944, -0.079335040071691, -1.0387296641726, -0.14852336522531, 1.5179921545735},
      0.9397598431163,
      {-0.45383589964008, 0.50754673365018, 0.055481049867404, -0.2115357361219, 0, 0},
      {1.5458466389526, 0.35806373907036, 0.047247028726121, 0.047247028726121, 1.7317496424695,
       0.40381066208539, 0.67364711479444, 0.67364711479444, -0.77297953105582, 1.4438954630721,
       1.5745228319652, 1.5745228319652, 0.23693494712621, 0.70077518922238, -0.029416107664753,
       -0.029416107664753}};
  expect_exact(some(c, 5), expected.cell);
  expect_packed(lstm, x, y, h, dot(y, 0.1) + dot(h, 0.2) + dot(c, 0.3), expected);
}

TEST(GRU, equals_pytorch_on_packed_sequences) {
  const auto gru = with_waves(make<GRU>(3, 2, kTwoBothWays));
  const Tensor x = waves({4, 3, 3}, 0.5).set_requires_grad(true);
  const auto [y, h] = gru(x, waves({4, 3, 2}, 0.25), packed_lengths());
  expect_packed(
      gru, x, y, h, dot(y, 0.1) + dot(h, 0.2),
      {{-0.68027623718093, -0.35934276848285, -0.23048499442041, -0.43622004464314,
        -0.055814492708992, -0.10175260242785, -0.5980823457662, -0.25535416714179,
        0.20020105564661, 0.10817775071383, -0.41131388372172, -0.47131778122601},
       {-0.28674906786788, -0.89826145060013, -0.85770120692193, 0.10817775071383,
        0.22938685223626},
       {},
       0.23078178624721,
       {-0.88642512507661, 0.075650271687146, -0.0029368175149205, -0.10559980705282, 0, 0},
       {-1.0419629450086, 0.017841988721658, -0.086598500261958, -0.03401589305878,
        0.67971874105331, -0.0038633708467777, 0.3394743808702, 0.22472121276091, -1.2462560470855,
        1.6492308501811, 1.4205741125766, 0.63961722488709, 0.1653469203764, 0.34942520994562,
        0.57902923751247, 0.25025028158357}});
}

TEST(LSTM, prints_and_begins_as_in_pytorch) {
  EXPECT_EQ(text_of(*make<LSTM>(3, 4)), "LSTM(3, 4)");
  const RecurrentOptions all{
      .num_layers = 2, .bias = false, .batch_first = true, .dropout = 0.5, .bidirectional = true};
  const auto lstm = make<LSTM>(3, 16, all);
  EXPECT_EQ(text_of(*lstm),
            "LSTM(3, 16, num_layers=2, bias=False, batch_first=True, dropout=0.5, "
            "bidirectional=True)");
  std::ostringstream names;
  for (const auto& [name, parameter] : lstm->named_parameters()) {
    names << name << parameter.shape() << ' ';
    for (const double value : parameter.value().to_vector<double>()) {
      EXPECT_LE(std::abs(value), 0.25);
    }
  }
  EXPECT_EQ(names.str(),
            "weight_ih_l0(64, 3) weight_hh_l0(64, 16) weight_ih_l0_reverse(64, 3) "
            "weight_hh_l0_reverse(64, 16) weight_ih_l1(64, 32) weight_hh_l1(64, 16) "
            "weight_ih_l1_reverse(64, 32) weight_hh_l1_reverse(64, 16) ");
  EXPECT_EQ(text_of(*make<GRU>(3, 4)), "GRU(3, 4)");
  EXPECT_EQ(text_of(*make<RNN>(3, 4, RnnOptions{.nonlinearity = Nonlinearity::relu})), "RNN(3, 4)");
}

TEST(LSTM, takes_batches_first_or_none) {
  const auto lstm = with_waves(make<LSTM>(3, 2));
  const auto first = with_waves(make<LSTM>(3, 2, RecurrentOptions{.batch_first = true}));
  const Tensor x = waves({4, 5, 3}, 0.5);
  const auto [y, state] = lstm(x);
  const auto [z, other] = first(transpose(x, 0, 1));
  EXPECT_EQ(transpose(z, 0, 1).to_vector<double>(), y.to_vector<double>());
  EXPECT_TRUE(y.is_contiguous());
  EXPECT_EQ(other.second.to_vector<double>(), state.second.to_vector<double>());
  const auto [one, last] = lstm(select(x, 1, 2), LstmState{waves({1, 2}, 0), Tensor()});
  EXPECT_EQ(one.shape(), (Shape{4, 2}));
  EXPECT_EQ(last.second.shape(), (Shape{1, 2}));
}

TEST(LSTM, drops_outputs_between_layers_in_training) {
  set_seed(5);
  const RecurrentOptions options{.num_layers = 2, .dropout = 0.5};
  const auto lstm = make<LSTM>(3, 8, options);
  const Tensor x = randn({4, 5, 3});
  const auto trained = lstm(x).first.to_vector<float>();
  EXPECT_NE(lstm(x).first.to_vector<float>(), trained);
  lstm->eval();
  EXPECT_EQ(lstm(x).first.to_vector<float>(), lstm(x).first.to_vector<float>());
}

TEST(LSTM, shows_hooks_its_states) {
  const auto lstm = make<LSTM>(3, 2);
  const LstmState first{ones({1, 5, 2}), ones({1, 5, 2})};
  const Tensor x = ones({4, 5, 3});
  const auto expected = lstm(x, first).second.second.to_vector<float>();
  std::vector<float> seen;
  const auto handle =
      lstm->register_forward_hook([&](const Module&, const Args& args, const Value& output) {
        EXPECT_TRUE(args[1].get<Value::List>()[0].tensor().defined());
        seen = output.get<Value::List>()[1].get<Value::List>()[1].tensor().to_vector<float>();
      });
  EXPECT_EQ(lstm(x, first).second.second.to_vector<float>(), expected);
  EXPECT_EQ(seen, expected);
}

TEST(LSTM, warns_of_dropout_without_a_second_layer) {
  std::vector<std::string> lines;
  const LogSinkScope sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  static_cast<void>(make<LSTM>(3, 2, RecurrentOptions{.dropout = 0.5}));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("between layers"), std::string::npos) << lines[0];
}

TEST(LSTM, names_what_does_not_fit) {
  EXPECT_THROW(make<LSTM>(0, 2), ValueError);
  EXPECT_THROW(make<LSTM>(2, 2, RecurrentOptions{.num_layers = 0}), ValueError);
  EXPECT_THROW(make<LSTM>(2, 2, RecurrentOptions{.dropout = 1.5}), ValueError);
  const auto lstm = make<LSTM>(3, 2);
  EXPECT_THROW(static_cast<void>(lstm(zeros({4, 5, 2}))), RuntimeError);
  EXPECT_THROW(static_cast<void>(lstm(zeros({3}))), RuntimeError);
  const LstmState wrong{zeros({2, 5, 2}), Tensor()};
  EXPECT_THROW(static_cast<void>(lstm(zeros({4, 5, 3}), wrong)), RuntimeError);
  const Tensor lengths = tensor<std::int64_t>({1, 2, 3, 4, 5});
  EXPECT_THROW(static_cast<void>(lstm(zeros({4, 5, 3}), LstmState(), lengths)), InvalidArgument);
}

TEST(LSTM, projects_hidden_states) {
  const auto lstm = make<LSTM>(
      3, 8,
      RecurrentOptions{.num_layers = 2, .bias = false, .bidirectional = true, .proj_size = 2});
  EXPECT_EQ(text_of(*lstm),
            "LSTM(3, 8, proj_size=2, num_layers=2, bias=False, bidirectional=True)");
  std::ostringstream names;
  for (const auto& [name, parameter] : lstm->named_parameters()) {
    names << name << parameter.shape() << ' ';
  }
  EXPECT_EQ(names.str(),
            "weight_ih_l0(32, 3) weight_hh_l0(32, 2) weight_hr_l0(2, 8) "
            "weight_ih_l0_reverse(32, 3) weight_hh_l0_reverse(32, 2) weight_hr_l0_reverse(2, 8) "
            "weight_ih_l1(32, 4) weight_hh_l1(32, 2) weight_hr_l1(2, 8) "
            "weight_ih_l1_reverse(32, 4) weight_hh_l1_reverse(32, 2) weight_hr_l1_reverse(2, 8) ");
  const auto [y, state] = lstm(randn({4, 5, 3}));
  EXPECT_EQ(y.shape(), (Shape{4, 5, 4}));
  EXPECT_EQ(state.first.shape(), (Shape{4, 5, 2}));
  EXPECT_EQ(state.second.shape(), (Shape{4, 5, 8}));
}

TEST(LSTM, names_projections_that_do_not_fit) {
  const RecurrentOptions projected{.proj_size = 2};
  EXPECT_THROW(make<LSTM>(3, 2, projected), ValueError);
  EXPECT_THROW(make<LSTM>(3, 2, RecurrentOptions{.proj_size = -1}), ValueError);
  EXPECT_THROW(make<GRU>(3, 8, projected), ValueError);
  const auto lstm = make<LSTM>(3, 8, projected);
  const Tensor x = zeros({4, 5, 3});
  const LstmState wrong{zeros({1, 5, 8}), zeros({1, 5, 8})};
  EXPECT_THROW(static_cast<void>(lstm(x, wrong)), RuntimeError);
  const auto run = [&](const Tensor& lengths) { static_cast<void>(lstm(x, LstmState(), lengths)); };
  EXPECT_THROW(run(tensor<std::int64_t>({1, 2, 3, 4, 5})), InvalidArgument);
  EXPECT_THROW(run(tensor<std::int64_t>({1, 2})), InvalidArgument);
  EXPECT_THROW(run(ones({5})), InvalidArgument);
}

TEST(LSTM, gives_the_same_gradients_when_activations_are_computed_anew) {
  const auto lstm = make<LSTM>(3, 8, kTwoBothWays);
  const auto run = [&](bool checkpointed) {
    lstm->zero_grad();
    Tensor x = ones({4, 5, 3}).set_requires_grad(true);
    const auto block = [&](const Tensor& t) { return lstm(t).first; };
    const Tensor y = checkpointed ? checkpoint(block, x) : block(x);
    sum_to(y * y, {}).backward();
    Doubles all = x.grad().to_vector<double>();
    for (const Parameter& parameter : lstm->parameters()) {
      const auto more = parameter.grad().to_vector<double>();
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  };
  EXPECT_EQ(run(true), run(false));
}

/// A step of a cell gives what its layer gives, from the same weights.
template <class Cell, class Layer>
std::pair<Ptr<Cell>, Ptr<Layer>> cell_and_layer() {
  const auto cell = with_waves(make<Cell>(3, 2));
  const auto layer = with_waves(make<Layer>(3, 2));
  return {cell, layer};
}

TEST(RecurrentCells, are_steps_of_the_layers) {
  const Tensor x = waves({1, 4, 3}, 0.5);
  const Tensor h = waves({1, 4, 2}, 0.25);
  const Tensor c = waves({1, 4, 2}, 0.75);
  const auto row = [](const Tensor& t) { return select(t, 0, 0); };
  const auto values = [](const Tensor& t) { return t.to_vector<double>(); };
  const auto [rnn_cell, rnn] = cell_and_layer<RNNCell, RNN>();
  expect_exact(values(rnn_cell(row(x), row(h))), values(rnn(x, h).first));
  const auto [gru_cell, gru] = cell_and_layer<GRUCell, GRU>();
  expect_exact(values(gru_cell(row(x), row(h))), values(gru(x, h).first));
  const auto [lstm_cell, lstm] = cell_and_layer<LSTMCell, LSTM>();
  const auto [h_next, c_next] = lstm_cell(row(x), LstmState{row(h), row(c)});
  expect_exact(values(h_next), values(lstm(x, LstmState{h, c}).first));
  expect_exact(values(c_next), values(lstm(x, LstmState{h, c}).second.second));
}

TEST(RecurrentCells, print_and_check_as_pytorch_does) {
  EXPECT_EQ(text_of(*make<RNNCell>(3, 4)), "RNNCell(3, 4)");
  EXPECT_EQ(text_of(*make<RNNCell>(
                3, 4, RnnCellOptions{.bias = false, .nonlinearity = Nonlinearity::relu})),
            "RNNCell(3, 4, bias=False, nonlinearity=relu)");
  EXPECT_EQ(text_of(*make<LSTMCell>(3, 4)), "LSTMCell(3, 4)");
  const auto gru = make<GRUCell>(3, 4);
  EXPECT_EQ(gru(zeros({3})).shape(), (Shape{4}));
  EXPECT_THROW(gru(zeros({2, 4})), RuntimeError);
  EXPECT_THROW(gru(zeros({2, 3}), zeros({3, 4})), RuntimeError);
  EXPECT_THROW(make<GRUCell>(3, 0), ValueError);
}

}  // namespace
}  // namespace tessera::nn
