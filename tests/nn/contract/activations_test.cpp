// Rows P-12, X23, X25, X26 and X33: edges and printed forms of the contract's activations
// (section 3.2).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <tessera/core/base/context.h>
#include <tessera/core/base/log.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/concat.h>
#include <tessera/core/ops/expand.h>
#include <tessera/core/ops/permute.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/layers/activation/gelu.h>
#include <tessera/nn/layers/activation/prelu.h>
#include <tessera/nn/layers/activation/relu.h>
#include <tessera/nn/layers/activation/threshold.h>

#include "activations.h"
#include "support/error_of.h"

namespace tessera::nn::contract {
namespace {

using testing::HasSubstr;
using testing_support::error_of;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(P_12, gelu_refuses_an_unknown_form_when_it_is_made) {
  EXPECT_THAT(error_of<ValueError>([] { make<GELU>("erf"); }), HasSubstr("got 'erf'"));
}

TEST(P_12, gelu_of_infinities_and_nan) {
  for (const DType dtype : {DType::f64, DType::f32, DType::bf16}) {
    for (std::size_t i = 0; i < 2; ++i) {
      const Doubles y = doubles(golden_curves()[i](cast(values_of({kInf, -kInf, kNan}), dtype)));
      EXPECT_EQ(y[0], kInf);
      EXPECT_TRUE(std::isnan(y[1]) && std::isnan(y[2])) << dtype << ' ' << y[1];
    }
  }
}

TEST(P_12, sigmoid_and_tanh_of_infinities_and_nan) {
  const auto sigmoid = make<Sigmoid>();
  const auto tanh = make<Tanh>();
  for (const DType dtype : {DType::f64, DType::f32}) {
    const Tensor x = cast(values_of({-kInf, -1000, 1000, kInf, kNan}), dtype);
    const Doubles s = doubles(sigmoid(x));
    const Doubles t = doubles(tanh(x));
    EXPECT_EQ(Doubles(s.begin(), s.end() - 1), (Doubles{0, 0, 1, 1}));
    EXPECT_EQ(Doubles(t.begin(), t.end() - 1), (Doubles{-1, -1, 1, 1}));
    EXPECT_TRUE(std::isnan(s[4]) && std::isnan(t[4]));
  }
  EXPECT_EQ(tanh(values_of({1e-300})).item(), 1e-300);
}

TEST(P_12, sigmoid_and_tanh_are_symmetric) {
  const auto sigmoid = make<Sigmoid>();
  const auto tanh = make<Tanh>();
  for (double x = 0; x < 6; x += 0.25) {
    const Doubles s = doubles(sigmoid(values_of({x, -x})));
    const Doubles t = doubles(tanh(values_of({x, -x})));
    EXPECT_NEAR(s[0], 1 - s[1], 2e-16);
    EXPECT_EQ(t[0], -t[1]);
  }
}

TEST(P_12, sigmoid_and_tanh_of_integers_are_f32) {
  EXPECT_EQ(make<Sigmoid>()(tensor<std::int64_t>({0})).dtype(), DType::f32);
  EXPECT_EQ(make<Tanh>()(tensor<std::int32_t>({0})).dtype(), DType::f32);
}

TEST(P_12, relu_keeps_nan_and_lets_its_gradient_pass) {
  const auto relu = make<ReLU>();
  for (const DType dtype : {DType::f64, DType::f32}) {
    const Curve curve = curve_of([&](const Tensor& x) { return relu(x); },
                                 cast(values_of({kNan, -0.0, 0, -1, 2}), dtype));
    EXPECT_TRUE(std::isnan(curve.y[0]));
    EXPECT_EQ(Doubles(curve.y.begin() + 1, curve.y.end()), (Doubles{0, 0, 0, 2}));
    EXPECT_EQ(curve.slope, (Doubles{1, 0, 0, 0, 1}));
  }
}

TEST(P_12, relu_takes_integers_and_no_bools_or_complex_numbers) {
  const auto relu = make<ReLU>();
  EXPECT_EQ(relu(tensor<std::int32_t>({-2, 3})).to_vector<int>(), (std::vector<int>{0, 3}));
  EXPECT_THROW(relu(tensor({true})), TypeError);
  EXPECT_THROW(relu(scalar(std::complex<double>(1, 1))), TypeError);
}

TEST(P_12, a_crelu_is_made_by_concatenation) {
  const auto relu = make<ReLU>();
  const Tensor x = values_of({-1, 2});
  EXPECT_EQ(doubles(concat({relu(x), relu(x * -1.0)}, 0)), (Doubles{0, 2, 1, 0}));
}

/// ReLU and Threshold in place, with the function that each computes.
std::vector<std::pair<Activation, Activation>> in_place_pairs() {
  return {{[m = make<ReLU>(true)](const Tensor& x) { return m(x); },
           [m = make<ReLU>()](const Tensor& x) { return m(x); }},
          {[m = make<Threshold>(0.5, 2.0, true)](const Tensor& x) { return m(x); },
           [m = make<Threshold>(0.5, 2.0)](const Tensor& x) { return m(x); }}};
}

TEST(P_12, in_place_forms_return_the_tensor_they_were_given) {
  for (const auto& [in_place, plain] : in_place_pairs()) {
    const Tensor x = values_of({-1, 0.25, 3});
    const Doubles expected = doubles(plain(x));
    const Tensor y = in_place(x);
    EXPECT_TRUE(y.is(x));
    EXPECT_EQ(doubles(x), expected);
    EXPECT_EQ(x.version(), 1U);
  }
}

TEST(P_12, in_place_forms_have_the_gradient_of_the_others) {
  for (const auto& [in_place, plain] : in_place_pairs()) {
    const Tensor at = values_of({-1, 0.25, 0.5, 0.75, 3});
    const auto of_copy = [&](const Tensor& x) { return in_place(x * 1.0) * x; };
    const auto of_plain = [&](const Tensor& x) { return plain(x * 1.0) * x; };
    EXPECT_EQ(curve_of(of_copy, at).slope, curve_of(of_plain, at).slope);
  }
}

TEST(P_12, in_place_forms_refuse_leaves_repeated_elements_and_hooked_modules) {
  for (const auto& [in_place, plain] : in_place_pairs()) {
    const Tensor leaf = ones({3}).set_requires_grad(true);
    EXPECT_THROW(in_place(leaf), RuntimeError);
    EXPECT_THROW(in_place(expand(ones({1}), {3})), RuntimeError);
  }
  const auto relu = make<ReLU>(true);
  relu->register_full_backward_hook([](const Module&, const Grads&, const Grads&) {});
  const Tensor x = ones({3}).set_requires_grad(true);
  EXPECT_THROW(relu(x * 1.0), RuntimeError);
}

TEST(P_12, in_place_forms_spoil_what_an_earlier_op_saved) {
  for (const auto& [in_place, plain] : in_place_pairs()) {
    const Tensor x = ones({3}).set_requires_grad(true);
    const Tensor h = x * 2.0;
    const Tensor square = h * h;
    in_place(h);
    EXPECT_THROW(sum(square).backward(), Error);
  }
}

TEST(P_12, threshold_replaces_what_is_not_above_it) {
  const auto threshold = make<Threshold>(0.1, 20.0);
  const Curve curve =
      curve_of([&](const Tensor& x) { return threshold(x); }, values_of({0.05, 0.1, 0.15, kNan}));
  EXPECT_EQ(Doubles(curve.y.begin(), curve.y.end() - 1), (Doubles{20, 20, 0.15}));
  EXPECT_TRUE(std::isnan(curve.y[3]));
  EXPECT_EQ(curve.slope, (Doubles{0, 0, 1, 1}));
}

TEST(X23, threshold_passes_nan) {
  EXPECT_TRUE(std::isnan(make<Threshold>(0.0, 1.0)(tensor<float>({NAN})).item()));
}

TEST(X25, threshold_of_integers_truncates_the_value_and_says_so_once) {
  std::string logged;
  const LogSinkScope sink([&](LogLevel, std::string_view line) { logged += line; });
  const auto threshold = make<Threshold>(0.0, 0.5);
  const ContextScope context(std::make_shared<Context>());
  const Tensor x = tensor<std::int64_t>({-3, -2, -1, 0, 1, 2});
  EXPECT_EQ(threshold(x).to_vector<int>(), (std::vector<int>{0, 0, 0, 0, 1, 2}));
  EXPECT_EQ(threshold(x).dtype(), DType::i64);
  EXPECT_THAT(logged, HasSubstr("i64 holds 0.5 as 0"));
  EXPECT_EQ(logged.find("holds"), logged.rfind("holds"));
}

TEST(X26, the_example_of_gelu_runs_on_random_numbers_of_our_own) {
  const ContextScope context(std::make_shared<Context>());
  const auto m = make<GELU>();
  const Tensor input = randn({2}, {.dtype = DType::f64});
  const Doubles x = input.to_vector<double>();
  const Doubles y = m(input).to_vector<double>();
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(y[i], x[i] * 0.5 * std::erfc(-x[i] / std::sqrt(2.0)), 1e-14);
  }
}

TEST(P_12, threshold_refuses_what_its_input_cannot_hold) {
  const auto threshold = make<Threshold>(0.0, 300.0);
  EXPECT_THROW(threshold(tensor<std::uint8_t>({1})), ValueError);
  EXPECT_THROW(threshold(tensor({true})), TypeError);
  EXPECT_THROW(threshold(scalar(std::complex<double>(1, 1))), TypeError);
  EXPECT_THROW(make<Threshold>(0.0, kNan)(tensor<std::int64_t>({1})), ValueError);
}

TEST(P_12, a_threshold_of_0_is_a_relu) {
  const auto threshold = make<Threshold>(0.0, 0.0);
  const auto relu = make<ReLU>();
  const Tensor x = randn({1000});
  EXPECT_EQ(threshold(x).to_vector<float>(), relu(x).to_vector<float>());
}

TEST(P_12, shapes_dtypes_and_layouts_are_kept) {
  std::vector<Activation> all = golden_curves();
  for (const auto& [in_place, plain] : in_place_pairs()) {
    all.push_back(plain);
  }
  all.emplace_back([m = make<PReLU>()](const Tensor& x) { return m(x); });
  for (const Activation& f : all) {
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{2, 0, 3}, Shape{2, 3, 1, 2, 2}}) {
      EXPECT_EQ(f(ones(shape)).shape(), shape);
      EXPECT_EQ(f(ones(shape)).dtype(), DType::f32);
    }
    const Tensor x = randn({3, 4});
    const Tensor turned = permute(x, {1, 0});
    EXPECT_EQ(f(turned).to_vector<float>(), permute(f(x), {1, 0}).to_vector<float>());
    const Tensor repeated = expand(tensor<float>({-0.5F}), {4});
    EXPECT_EQ(f(repeated).to_vector<float>(),
              std::vector<float>(4, f(tensor<float>({-0.5F})).item<float>()));
  }
}

TEST(P_12, nothing_differs_between_training_and_evaluation) {
  const Tensor x = randn({3, 4});
  const auto check = [&](const auto& module) {
    const auto trained = module(x).template to_vector<float>();
    module->eval();
    EXPECT_EQ(module(x).template to_vector<float>(), trained);
  };
  check(make<GELU>());
  check(make<PReLU>());
  check(make<ReLU>());
  check(make<Sigmoid>());
  check(make<Tanh>());
  check(make<Threshold>(0.1, 1.0));
}

TEST(X33, printed_forms_are_those_of_pytorch) {
  EXPECT_EQ(make<GELU>()->repr(), "GELU(approximate='none')");
  EXPECT_EQ(make<GELU>(GELU::Approximate::tanh)->repr(), "GELU(approximate='tanh')");
  EXPECT_EQ(make<PReLU>(3)->repr(), "PReLU(num_parameters=3)");
  EXPECT_EQ(make<ReLU>()->repr(), "ReLU()");
  EXPECT_EQ(make<ReLU>(true)->repr(), "ReLU(inplace=True)");
  EXPECT_EQ(make<Sigmoid>()->repr(), "Sigmoid()");
  EXPECT_EQ(make<Tanh>()->repr(), "Tanh()");
  EXPECT_EQ(make<Threshold>(0.1, 20.0)->repr(), "Threshold(threshold=0.1, value=20.0)");
  EXPECT_EQ(make<Threshold>(0.1, 20.0, true)->repr(),
            "Threshold(threshold=0.1, value=20.0, inplace=True)");
}

}  // namespace
}  // namespace tessera::nn::contract
