// Row P-12 and the golden values of the contract's activations (its sections 3.1 and 3.3).
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include <tessera/core/ops/cast.h>

#include "activations.h"

namespace tessera::nn::contract {
namespace {

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

TEST(P_12, values_and_slopes_are_those_of_the_golden_table) {
  const auto curves = golden_curves();
  for (const Golden& row : kGolden) {
    for (std::size_t i = 0; i < curves.size(); ++i) {
      const Curve curve = curve_of(curves[i], values_of({row.x}));
      const double y = row.values[2 * i];
      const double slope = row.values[2 * i + 1];
      // The table has 15 digits; y (1 - y) and 1 - y^2 lose relative digits where y is near 1.
      const bool relative = i < 2 || std::abs(row.x) <= 1;
      EXPECT_NEAR(curve.y[0], y, 1e-14 * std::abs(y)) << "curve " << i << " at " << row.x;
      EXPECT_NEAR(curve.slope[0], slope, relative ? 1e-14 * std::abs(slope) : 1e-15)
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

TEST(P_12, the_two_forms_of_gelu_differ_by_4_73e_4_at_most_near_2_7) {
  const auto curves = golden_curves();
  double largest = 0;
  double where = 0;
  for (double x = -4; x < 4; x += 1e-3) {
    const Tensor at = values_of({x});
    const double difference = std::abs(curves[0](at).item() - curves[1](at).item());
    where = difference > largest ? x : where;
    largest = std::max(largest, difference);
  }
  EXPECT_NEAR(largest, 4.73e-4, 5e-7);
  EXPECT_NEAR(std::abs(where), 2.70, 5e-3);
}

TEST(P_12, second_derivatives_are_those_of_the_slopes) {
  const auto curves = golden_curves();
  for (std::size_t i = 0; i < curves.size(); ++i) {
    for (const double x : {-3.0, -0.5, 0.0, 0.1, 1.0, 2.0}) {
      Tensor leaf = values_of({x});
      leaf.set_requires_grad(true);
      const Tensor y = sum(curves[i](leaf));
      const Tensor slope =
          grad(std::span(&y, 1), std::span(&leaf, 1), {}, {.create_graph = true})[0];
      sum(slope).backward();
      const Curve around = curve_of(curves[i], values_of({x - 1e-4, x + 1e-4}));
      EXPECT_NEAR(leaf.grad().item(), (around.slope[1] - around.slope[0]) / 2e-4, 1e-7)
          << "curve " << i << " at " << x;
    }
  }
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

}  // namespace
}  // namespace tessera::nn::contract
