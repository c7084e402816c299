#include <gtest/gtest.h>

#include <tessera/core/dispatch/autocast.h>
#include <tessera/core/ops/layer_norm.h>
#include <tessera/core/ops/rms_norm.h>

#include "ops/gradients.h"
#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using testing_support::expect_gradients;
using testing_support::expect_second_gradients;
using testing_support::Inputs;
using testing_support::numbers;

void set_dtype(NormAttrs& attrs, DType dtype) {
  attrs.dtype = dtype;
}
void set_parameters(NormBackwardAttrs& attrs, DType dtype) {
  attrs.parameters = dtype;
}

/// A statistic that the forward op saves, from the inputs of its backward op.
template <class Forward>
InputSpec statistic(std::size_t output) {
  return derived([=](const std::vector<Tensor>& in) {
    return call_all<Forward>({in[1], Tensor(), Tensor()}, {.dtype = in[1].dtype()})[output];
  });
}

const RegisterOpCase<LayerNorm> kLayerNormCase{{
    .samples = {{.inputs = {real({4, 6}), real({6}), real({6})}},
                {.inputs = {real({2, 4, 3}), real({3}), absent()}, .attrs = {.epsilon = 0.25}},
                {.inputs = {real({6}), absent(), absent()}}},
    .wrong = {{.inputs = {real({4, 6}), real({5}), absent()}},
              {.inputs = {real({4, 6}), real({6}), real({5})}},
              {.inputs = {real({4, 6}), absent(), real({6})}},
              {.inputs = {integers({4, 6}, 0, 2), absent(), absent()}},
              {.inputs = {real({}), absent(), absent()}},
              {.inputs = {real({4, 6}), absent(), absent()}, .attrs = {.epsilon = -1}}},
    .tolerance = {.of_largest = 4},
    .set_dtype = set_dtype,
    .gradient_outputs = 1,
}};

const RegisterOpCase<LayerNormBackward> kLayerNormBackwardCase{{
    .samples = {{.inputs = {real({4, 6}), real({4, 6}), statistic<LayerNorm>(1), real({6}),
                            statistic<LayerNorm>(2)},
                 .attrs = {.weight = true, .bias = true}},
                {.inputs = {real({4, 3}), real({4, 3}), statistic<LayerNorm>(1), real({3}),
                            statistic<LayerNorm>(2)},
                 .attrs = {.bias = true}},
                {.inputs = {real({2, 4, 3}), real({2, 4, 3}), statistic<LayerNorm>(1), absent(),
                            statistic<LayerNorm>(2)}}},
    .wrong = {{.inputs = {real({4, 5}), real({4, 6}), real({4, 1}), absent(), real({4, 1})}},
              {.inputs = {real({4, 6}), real({4, 6}), real({4}), absent(), real({4, 1})}},
              {.inputs = {real({4, 6}), real({4, 6}), real({4, 1}), real({5}), real({4, 1})}},
              {.inputs = {real({4, 6}), real({4, 6}), real({4, 1}), absent(), real({4})}}},
    .tolerance = {.of_largest = 4},
    .set_dtype = set_parameters,
    .second_gradient = SecondGradient::unchecked,  // third derivatives of the norm: Unsupported
}};

const RegisterOpCase<RmsNorm> kRmsNormCase{{
    .samples = {{.inputs = {real({4, 6}), real({6})}},
                {.inputs = {real({2, 4, 3}), absent()}, .attrs = {.epsilon = 0.25}}},
    .wrong = {{.inputs = {real({4, 6}), real({5})}},
              {.inputs = {integers({4, 6}, 0, 2), absent()}}},
    .tolerance = {.of_largest = 4},
    .set_dtype = set_dtype,
    .gradient_outputs = 1,
}};

const RegisterOpCase<RmsNormBackward> kRmsNormBackwardCase{{
    .samples = {{.inputs = {real({4, 6}), real({4, 6}), statistic<RmsNorm>(1), real({6}), absent()},
                 .attrs = {.weight = true}},
                {.inputs = {real({2, 4, 3}), real({2, 4, 3}), statistic<RmsNorm>(1), absent(),
                            absent()}}},
    .wrong = {{.inputs = {real({4, 5}), real({4, 6}), real({4, 1}), absent(), absent()}}},
    .tolerance = {.of_largest = 4},
    .set_dtype = set_parameters,
    .second_gradient = SecondGradient::unchecked,  // third derivatives of the norm: Unsupported
}};

TEST(LayerNorm, gives_rows_mean_0_and_variance_1) {
  const Tensor y = layer_norm(tensor({1.F, 2.F, 3.F, 4.F}), {}, {}, 0);
  const float a = 0.5F / std::sqrt(1.25F);
  const std::vector<float> got = y.to_vector<float>();
  const float expected[] = {-3 * a, -a, a, 3 * a};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_FLOAT_EQ(got[i], expected[i]);
  }
}

TEST(LayerNorm, gradients) {
  const auto f = [](const Inputs& x) { return layer_norm(x[0], x[1], x[2]); };
  const Inputs inputs{numbers({2, 3, 5}, 1), numbers({5}, 2), numbers({5}, 3)};
  expect_gradients(f, inputs);
  expect_second_gradients(f, inputs);
  const auto plain = [](const Inputs& x) { return layer_norm(x[0]); };
  expect_gradients(plain, {numbers({3, 4}, 1)});
  expect_second_gradients(plain, {numbers({3, 4}, 1)});
}

TEST(RmsNorm, gradients) {
  const auto f = [](const Inputs& x) { return rms_norm(x[0], x[1]); };
  const Inputs inputs{numbers({2, 3, 5}, 1), numbers({5}, 2)};
  expect_gradients(f, inputs);
  expect_second_gradients(f, inputs);
  expect_gradients([](const Inputs& x) { return rms_norm(x[0]); }, {numbers({3, 4}, 1)});
}

TEST(LayerNorm, bits_do_not_depend_on_passes) {
  testing_support::expect_same_bits_for_all_passes(
      [](const Inputs& p, const Inputs& x) {
        return testing_support::loss_of_samples(layer_norm(x[0], p[0], p[1]) +
                                                rms_norm(x[0], p[2]));
      },
      {numbers({6}, 2, DType::f32), numbers({6}, 3, DType::f32), numbers({6}, 4, DType::f32)},
      {numbers({8, 3, 6}, 1, DType::f32)});
}

TEST(LayerNorm, autocast_keeps_statistics_and_gradients_in_f32) {
  const AutocastScope autocast(DType::bf16);
  const Tensor x = numbers({2, 8}, 1, DType::f32).set_requires_grad(true);
  const Tensor weight = numbers({8}, 2, DType::f32).set_requires_grad(true);
  const Tensor y = layer_norm(x, weight);
  EXPECT_EQ(y.dtype(), DType::bf16);
  sum_to(y, {}).backward();
  EXPECT_EQ(x.grad().dtype(), DType::f32);
  EXPECT_EQ(weight.grad().dtype(), DType::f32);
}

TEST(LayerNorm, names_what_does_not_fit) {
  EXPECT_THROW(static_cast<void>(layer_norm(zeros({2, 3}), zeros({4}))), InvalidArgument);
  EXPECT_THROW(static_cast<void>(layer_norm(scalar(1))), InvalidArgument);
  EXPECT_THROW(static_cast<void>(layer_norm(zeros({2}, {.dtype = DType::i64}))), InvalidArgument);
}

}  // namespace
}  // namespace tessera
