// Row P-12, and X21 to X26, X33 and A15 as they concern it: the six activations of the contract.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/log.h>
#include <tessera/core/dispatch/autocast.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/concat.h>
#include <tessera/core/ops/expand.h>
#include <tessera/core/ops/permute.h>
#include <tessera/core/ops/prelu.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/sum.h>
#include <tessera/nn/layers/activation/gelu.h>
#include <tessera/nn/layers/activation/prelu.h>
#include <tessera/nn/layers/activation/relu.h>
#include <tessera/nn/layers/activation/sigmoid.h>
#include <tessera/nn/layers/activation/tanh.h>
#include <tessera/nn/layers/activation/threshold.h>

#include "models.h"

namespace tessera::nn::contract {
namespace {

using testing::HasSubstr;
using Doubles = std::vector<double>;
using Activation = std::function<Tensor(const Tensor&)>;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Tensor values_of(std::initializer_list<double> values) {
  return tensor<double>(values);
}

Doubles doubles(const Tensor& x) {
  return x.to_vector<double>();
}

/// y(x) and dy/dx.
struct Curve {
  Doubles y;
  Doubles slope;
};
Curve curve_of(const Activation& f, const Tensor& at) {
  Tensor leaf = at.detach();
  leaf.set_requires_grad(true);
  const Tensor y = f(leaf);
  sum(y).backward();
  return {doubles(y), doubles(leaf.grad())};
}

// --- 3.1 and 3.3: definitions and golden values -----------------------------------------------

/// Row of the table: x; value and slope of GELU, GELU by tanh, sigmoid and tanh.
struct Golden {
  double x;
  std::array<double, 8> values;
};
constexpr Golden kGolden[] = {
    {-10,
     {-7.61985302416053e-23, -7.61840009646481e-22, -1.20409234820981e-37, -2.75763806385403e-36,
      4.53978687024344e-05, 4.53958077359517e-05, -0.999999995877693, 8.2446144557674e-09}},
    {-5,
     {-1.43325785939597e-06, -7.14694600179229e-06, -2.29179619662951e-07, -1.54636198753259e-06,
      0.00669285092428486, 0.00664805667079015, -0.999909204262595, 0.000181583230943807}},
    {-3,
     {-0.00404969409489028, -0.0119456472041839, -0.00363739208177302, -0.0115841666309697,
      0.0474258731775668, 0.0451766597309121, -0.99505475368673, 0.00986603716544019}},
    {-1,
     {-0.158655253931457, -0.0833154705876863, -0.158808009391723, -0.0829640838457825,
      0.268941421369995, 0.196611933241482, -0.761594155955765, 0.419974341614026}},
    {-0.5,
     {-0.154268769362993, 0.132504875343837, -0.154285990174856, 0.132630096465358,
      0.377540668798145, 0.235003712201594, -0.46211715726001, 0.786447732965927}},
    {-0.1,
     {-0.0460172162722971, 0.42047690797527, -0.0460172489545648, 0.420478210728243,
      0.47502081252106, 0.249376040192892, -0.0996679946249558, 0.99006629084744}},
    {0, {0, 0.5, 0, 0.5, 0.5, 0.25, 0, 1}},
    {0.1,
     {0.0539827837277029, 0.57952309202473, 0.0539827510454352, 0.579521789271757, 0.52497918747894,
      0.249376040192892, 0.0996679946249558, 0.99006629084744}},
    {0.5,
     {0.345731230637007, 0.867495124656163, 0.345714009825144, 0.867369903534642, 0.622459331201855,
      0.235003712201594, 0.46211715726001, 0.786447732965927}},
    {1,
     {0.841344746068543, 1.08331547058769, 0.841191990608277, 1.08296408384578, 0.731058578630005,
      0.196611933241482, 0.761594155955765, 0.419974341614026}},
    {3,
     {2.99595030590511, 1.01194564720418, 2.99636260791823, 1.01158416663097, 0.952574126822433,
      0.0451766597309121, 0.99505475368673, 0.00986603716544019}},
};

/// The four curves in the order of the table.
std::vector<Activation> golden_curves() {
  return {[gelu = make<GELU>()](const Tensor& x) { return gelu(x); },
          [gelu = make<GELU>("tanh")](const Tensor& x) { return gelu(x); },
          [sigmoid = make<Sigmoid>()](const Tensor& x) { return sigmoid(x); },
          [tanh = make<Tanh>()](const Tensor& x) { return tanh(x); }};
}

TEST(P_12, values_and_slopes_are_those_of_the_golden_table) {
  const auto curves = golden_curves();
  for (const Golden& row : kGolden) {
    for (std::size_t i = 0; i < curves.size(); ++i) {
      const Curve curve = curve_of(curves[i], values_of({row.x}));
      const double y = row.values[2 * i];
      const double slope = row.values[2 * i + 1];
      // The table has 15 digits; y (1 - y) and 1 - y^2 lose relative digits where y is near 1.
      EXPECT_NEAR(curve.y[0], y, 1e-14 * std::abs(y)) << "curve " << i << " at " << row.x;
      EXPECT_NEAR(curve.slope[0], slope, i < 2 ? 1e-14 * std::abs(slope) : 1e-15)
          << "slope of curve " << i << " at " << row.x;
    }
  }
}

double half_unit_of(DType dtype) {
  return dtype == DType::bf16 ? 0x1p-8 : 0x1p-11;
}

TEST(P_12, f32_and_16_bit_values_are_those_of_the_golden_table_rounded) {
  const auto curves = golden_curves();
  for (const Golden& row : kGolden) {
    for (std::size_t i = 0; i < curves.size(); ++i) {
      for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
        const Tensor x = cast(values_of({row.x}), dtype);
        const double exact = curves[i](cast(x, DType::f64)).item();
        // f32 is a few roundings off, and more where an exponent of the size of x^2 was rounded.
        const double off = (i == 1 ? 12 + 4 * row.x * row.x : 12) * 0x1p-24;
        const double bound = dtype == DType::f32 ? off : half_unit_of(dtype) + off;
        const double smallest = dtype == DType::f16 ? 0x1p-25 : 1e-38;
        EXPECT_NEAR(curves[i](x).item(), exact, bound * std::abs(exact) + smallest)
            << "curve " << i << " at " << row.x << " in " << dtype;
      }
    }
  }
}

TEST(P_12, the_two_forms_of_gelu_differ_by_4_73e_4_at_most) {
  const auto curves = golden_curves();
  double largest = 0;
  for (double x = -4; x < 4; x += 1e-3) {
    const Tensor at = values_of({x});
    largest = std::max(largest, std::abs(curves[0](at).item() - curves[1](at).item()));
  }
  EXPECT_NEAR(largest, 4.73e-4, 5e-7);
}

TEST(P_12, gelu_has_its_minimum_where_the_contract_says) {
  const std::array<std::array<double, 2>, 2> minima{
      {{-0.751791525, -0.169971207}, {-0.752461422, -0.170040751}}};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto [x, y] = minima[i];
    const Curve curve = curve_of(golden_curves()[i], values_of({x - 1e-6, x, x + 1e-6}));
    EXPECT_NEAR(curve.y[1], y, 1e-9);
    EXPECT_LT(curve.slope[0], 0);
    EXPECT_GT(curve.slope[2], 0);
  }
}

// --- 3.2: edges ---------------------------------------------------------------------------------

TEST(P_12, gelu_refuses_an_unknown_form_when_it_is_made) {
  EXPECT_THAT(thrown<ValueError>([] { make<GELU>("erf"); }), HasSubstr("got 'erf'"));
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

// --- PReLU --------------------------------------------------------------------------------------

TEST(P_12, prelu_has_one_slope_for_all_or_one_a_channel) {
  const auto one = make<PReLU>();
  EXPECT_EQ(doubles(one(tensor<float>({-4, 0, 2}))), (Doubles{-1, 0, 2}));
  EXPECT_EQ(doubles(one(scalar(-4))), (Doubles{-1}));
  const auto two = make<PReLU>(2, 0.5);
  two->load_state_dict({{"weight", tensor<float>({0.5, -1})}});
  EXPECT_EQ(doubles(two(full({1, 2, 2}, -2))), (Doubles{-1, -1, 2, 2}));
  EXPECT_EQ(doubles(two(full({2, 2}, -2))), (Doubles{-1, 2, -1, 2}));
}

TEST(X24, prelu_at_0_has_the_gradient_of_the_left_side) {
  const Tensor x = values_of({-2, 0, 3}).set_requires_grad(true);
  const Tensor weight = values_of({0.25}).set_requires_grad(true);
  sum(prelu(x, weight)).backward();
  EXPECT_EQ(doubles(x.grad()), (Doubles{0.25, 0.25, 1}));
  EXPECT_EQ(doubles(weight.grad()), (Doubles{-2}));
}

TEST(P_12, the_slopes_gradient_is_summed_over_all_dims_but_the_channels) {
  const Tensor x = values_of({-1, 2, -3, -4, 5, -6, 7, -8});
  const Tensor weight = values_of({0.5, 2}).set_requires_grad(true);
  sum(prelu(reshape(x, {2, 2, 2}), weight)).backward();
  EXPECT_EQ(doubles(weight.grad()), (Doubles{-1 - 6, -3 - 4 - 8}));
}

TEST(P_12, an_empty_batch_gives_the_slopes_a_gradient_of_0) {
  const Tensor weight = values_of({0.5, 2}).set_requires_grad(true);
  sum(prelu(zeros({0, 2, 3}, {.dtype = DType::f64}), weight)).backward();
  EXPECT_EQ(doubles(weight.grad()), (Doubles{0, 0}));
}

TEST(P_12, special_slopes) {
  const Tensor x = values_of({-2, 3});
  EXPECT_EQ(doubles(prelu(x, values_of({0}))), (Doubles{0, 3}));
  EXPECT_EQ(doubles(prelu(x, values_of({1}))), doubles(x));
  EXPECT_EQ(doubles(prelu(x, values_of({-1}))), (Doubles{2, 3}));
}

TEST(P_12, prelu_refuses_what_does_not_fit) {
  EXPECT_THROW(make<PReLU>(0), ValueError);
  EXPECT_THROW(make<PReLU>(-1), ValueError);
  const auto three = make<PReLU>(3);
  const std::string text = thrown<ValueError>([&] { three(ones({2, 4})); });
  EXPECT_THAT(text, HasSubstr("got 3 numbers, expected 1 or 4"));
  EXPECT_THROW(three(ones({3})), ValueError);
  EXPECT_THROW(three(scalar(1)), ValueError);
  EXPECT_THROW(static_cast<void>(prelu(ones({2, 4}), ones({1, 4}))), RuntimeError);
  EXPECT_THROW(static_cast<void>(prelu(values_of({1}), ones({1}))), RuntimeError);
  EXPECT_THROW(static_cast<void>(prelu(scalar(std::complex<double>(1, 1)), ones({1}))), TypeError);
}

TEST(P_12, prelu_casts_its_slopes_in_a_mixed_precision_scope) {
  const auto layer = make<PReLU>();
  const AutocastScope scope(DType::bf16);
  const Tensor y = layer(cast(tensor<float>({-4, 2}), DType::bf16));
  EXPECT_EQ(y.dtype(), DType::bf16);
  EXPECT_EQ(doubles(y), (Doubles{-1, 2}));
  sum(y).backward();
  EXPECT_EQ(doubles(layer->weight.grad()), (Doubles{-4}));
}

TEST(P_12, reset_parameters_fills_the_slopes_again) {
  const auto layer = make<PReLU>(3, 0.1);
  layer->load_state_dict({{"weight", tensor<float>({1, 2, 3})}});
  layer->reset_parameters();
  EXPECT_EQ(layer->weight.value().to_vector<float>(), std::vector<float>(3, 0.1F));
  EXPECT_TRUE(layer->weight.value().is_leaf());
}

// --- printed form
// ---------------------------------------------------------------------------------

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
