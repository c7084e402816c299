// What summary counts, against numbers worked out by hand.
#include <tessera/nn/summary/summary.h>

#include <gtest/gtest.h>

#include <sstream>

#include <tessera/core/ops/add.h>
#include <tessera/core/ops/embedding.h>
#include <tessera/core/ops/matmul.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/relu.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/nn/functional/spec.h>
#include <tessera/nn/init/constant.h>
#include <tessera/nn/layers/batch_norm.h>
#include <tessera/nn/layers/conv.h>
#include <tessera/nn/layers/conv_transpose.h>
#include <tessera/nn/layers/dropout.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/layers/lstm.h>
#include <tessera/nn/layers/module_list.h>
#include <tessera/nn/layers/multihead_attention.h>
#include <tessera/nn/layers/rotary_embedding.h>
#include <tessera/nn/layers/sequential.h>

namespace tessera::nn {
namespace {

const SummaryRow& row_of(const Summary& summary, const std::string& name) {
  for (const SummaryRow& row : summary.rows) {
    if (row.name == name) {
      return row;
    }
  }
  fail<KeyError>("no row \"", name, "\"");
}

void expect_row(const Summary& summary, const std::string& name, const Shape& output,
                std::int64_t parameters, std::int64_t multiply_adds) {
  SCOPED_TRACE(name);
  const SummaryRow& row = row_of(summary, name);
  EXPECT_EQ(row.outputs, std::vector<Shape>{output});
  EXPECT_EQ(row.parameters, parameters);
  EXPECT_EQ(row.multiply_adds, multiply_adds);
}

struct SmallNet : Module {
  Child<Conv2d> conv{this, "conv", 3, 8, 3, ConvOptions{.padding = 1, .bias = false}};
  Child<BatchNorm2d> norm{this, "norm", 8};
  Child<Conv2d> down{this, "down", 8, 4, 1, ConvOptions{.stride = 2}};
  Child<Dropout> drop{this, "drop", 0.5};
  Child<Linear> fc{this, "fc", 256, 10};
  Tensor forward(const Tensor& x) const {
    return fc(tessera::flatten(drop(down(relu(norm(conv(x))))), 1));
  }
};

/// Makes tensors in its forward.
struct Positions : Module {
  Child<Linear> fc{this, "fc", 4, 4};
  Parameter table{this, "table", {8, 4}, init::constant(1)};
  Tensor forward(const Tensor& x) const {
    const Tensor places = embedding(table, arange(x.size(0)));
    const Tensor noise = zeros(x.shape());
    noise.copy_(ones(x.shape()));
    return fc(x + places + noise + full({}, 2)) * ones({4});
  }
};

TEST(Summary, of_a_forward_that_makes_tensors) {
  const auto model = make<Positions>();
  expect_row(summary(model, randn({3, 4})), "fc", {3, 4}, 4 * 4 + 4, 3 * 4 * 4);
  EXPECT_EQ(spec(model, ArraySpec{{3, 4}}), (ArraySpec{{3, 4}}));
}

TEST(Summary, says_that_a_tensor_with_elements_cannot_take_those_of_one_without) {
  const Tensor real = zeros({2});
  EXPECT_THROW(real.copy_(zeros({2}, {.device = {.type = DeviceType::meta}})), NotImplementedError);
}

TEST(Summary, counts_a_convolutional_net) {
  const auto model = make<SmallNet>();
  const Summary s = summary(model, randn({2, 3, 16, 16}));
  expect_row(s, "conv", {2, 8, 16, 16}, 8 * 3 * 9, 2 * 8 * 256 * 27);
  expect_row(s, "norm", {2, 8, 16, 16}, 16, 0);
  expect_row(s, "down", {2, 4, 8, 8}, 4 * 8 + 4, 2 * 4 * 64 * 8);
  expect_row(s, "fc", {2, 10}, 2570, 2 * 256 * 10);
  expect_row(s, "", {2, 10}, 0, 0);
  EXPECT_EQ(s.parameters, 2838);
  EXPECT_EQ(s.trainable, 2838);
  EXPECT_EQ(s.multiply_adds, 110'592 + 4096 + 5120);
  EXPECT_EQ(s.input_bytes, 2 * 3 * 256 * 4);
  EXPECT_EQ(s.parameter_bytes, 2838 * 4);
  EXPECT_EQ(s.output_bytes, 4 * (2 * 4096 + 2 * 512 + 20));
}

TEST(Summary, counts_attention_with_weights_and_without) {
  const auto model = make<MultiheadAttention>(8, 2);
  const Tensor x = randn({5, 3, 8});
  for (const bool weighted : {true, false}) {
    const Summary s = summary(model, x, x, x, AttendOptions{.need_weights = weighted});
    const SummaryRow& own = row_of(s, "");
    EXPECT_EQ(own.parameters, 24 * 8 + 24);
    EXPECT_EQ(own.multiply_adds, 15 * 8 * 24 + 2 * (3 * 2 * 5 * 5 * 4));
    expect_row(s, "out_proj", {3, 5, 8}, 72, 15 * 8 * 8);
    EXPECT_EQ(own.outputs.size(), weighted ? 2U : 1U);
  }
}

TEST(Summary, counts_recurrent_layers_and_transposed_convolutions) {
  const Summary lstm = summary(make<LSTM>(4, 5), randn({3, 2, 4}));
  EXPECT_EQ(lstm.multiply_adds, 6 * 4 * 20 + 6 * 20 * 5);
  EXPECT_EQ(lstm.rows[0].outputs, (std::vector<Shape>{{3, 2, 5}, {1, 2, 5}, {1, 2, 5}}));
  const auto up = make<ConvTranspose2d>(2, 3, 2, ConvTransposeOptions{.stride = 2});
  EXPECT_EQ(summary(up, randn({1, 2, 4, 4})).multiply_adds, 2 * 16 * 3 * 4);
}

/// Calls one layer twice, multiplies by itself before and after, and has one that is never called.
struct Mixed : Module {
  Child<Linear> twice{this, "twice", 4, 4};
  Child<ModuleList<Linear>> unused{this, "unused"};
  Parameter factor{this, "factor", {4, 4}, init::ones()};
  Mixed() { unused->add(4, 2); }
  Tensor forward(const Tensor& x) const { return matmul(twice(twice(matmul(x, factor))), factor); }
};

TEST(Summary, a_module_has_its_own_products_and_those_of_all_its_calls) {
  const Summary s = summary(make<Mixed>(), randn({3, 4}));
  expect_row(s, "", {3, 4}, 16, 2 * 3 * 4 * 4);
  expect_row(s, "twice", {3, 4}, 20, 2 * 3 * 4 * 4);
  EXPECT_TRUE(row_of(s, "unused").outputs.empty());
  EXPECT_TRUE(row_of(s, "unused.0").outputs.empty());
  EXPECT_EQ(row_of(s, "unused.0").depth, 2);
  EXPECT_EQ(s.parameters, 16 + 20 + 10);
}

TEST(Summary, changes_nothing_and_needs_no_gradients) {
  const auto model = make<SmallNet>();
  model->requires_grad_(false);
  int calls = 0;
  model->register_forward_hook([&](const Module&, const Args&, const Value&) { ++calls; });
  const auto before = model->state_dict();
  const NoGradGuard no_grad;
  const Summary s = summary(*model, randn({2, 3, 16, 16}));
  EXPECT_EQ(s.multiply_adds, 119'808);
  EXPECT_EQ(s.trainable, 0);
  EXPECT_EQ(calls, 0);
  EXPECT_TRUE(model->training());
  for (const auto& [name, value] : model->state_dict()) {
    EXPECT_TRUE(value.tensor().is(before.at(name).tensor()) ||
                value.tensor().shares_storage(before.at(name).tensor()))
        << name;
  }
}

TEST(Summary, needs_no_memory_for_what_it_runs) {
  const auto model = make<Linear>(1, 1);
  const Tensor huge = empty({std::int64_t{1} << 50, 1}, {.device = {.type = DeviceType::meta}});
  EXPECT_EQ(summary(model, huge).multiply_adds, std::int64_t{1} << 50);
  EXPECT_EQ(summary(make<RotaryEmbedding>(8), randn({5, 8})).rows[0].outputs[0], (Shape{5, 8}));
}

TEST(Summary, is_printed_as_a_table) {
  const auto model = make<Sequential>();
  model->add<Linear>(100, 2000);
  model->add<Dropout>(0.5);
  model->build();
  std::ostringstream out;
  out << summary(model, randn({8, 100}));
  EXPECT_EQ(out.str(),
            "Layer         Output shape  Parameters  Multiply-adds\n"
            "-----------------------------------------------------\n"
            "Sequential    (8, 2000)             --             --\n"
            "  0: Linear   (8, 2000)        202,000      1,600,000\n"
            "  1: Dropout  (8, 2000)             --             --\n"
            "-----------------------------------------------------\n"
            "Parameters: 202,000 (trained: 202,000)\n"
            "Multiply-adds: 1,600,000\n"
            "Input: 0.00 MB, outputs: 0.13 MB, parameters: 0.81 MB\n");
}

TEST(Summary, passes_on_what_the_forward_throws) {
  EXPECT_THROW(static_cast<void>(summary(make<Linear>(4, 2), randn({3, 5}))), InvalidArgument);
}

}  // namespace
}  // namespace tessera::nn
