#include <tessera/core/ops/pow.h>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/factories.h>

#include "support/expect_numbers.h"
#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using testing_support::Doubles;
using testing_support::doubles;
using testing_support::expect_numbers;

const RegisterOpCase<Pow> kPowCase{{
    .samples = {{.inputs = {real({4, 6}, 0.5, 2), real({4, 6})}},
                {.inputs = {real({4, 1}, 0.5, 2), real({2})}},
                {.inputs = {real({4, 6}, 0.5, 2), given({}, {2})}}},
    .wrong = {{.inputs = {real({4}), real({3})}}},
}};

/// The gradient by the exponent of base^y.
Doubles slope_by_exponent(const auto& base, std::initializer_list<double> exponents) {
  const Tensor y = tensor<double>(exponents).set_requires_grad(true);
  sum(pow(base, y)).backward();
  return doubles(y.grad());
}

TEST(Pow, takes_the_logarithm_of_a_base_of_any_dtype_in_that_of_the_power) {
  const Doubles expected{9.887510598012987, 0.3662040962227032, 1.902852301792692};
  for (const DType dtype : {DType::u8, DType::i8, DType::i16, DType::i32, DType::i64, DType::f16,
                            DType::bf16, DType::f32, DType::f64}) {
    SCOPED_TRACE(to_string(dtype));
    expect_numbers(slope_by_exponent(full({3}, 3, {.dtype = dtype}), {2, -1, 0.5}), expected);
    expect_numbers(slope_by_exponent(scalar(3, {.dtype = dtype}), {2, -1, 0.5}), expected);
  }
  expect_numbers(slope_by_exponent(3, {2, -1, 0.5}), expected);
  expect_numbers(slope_by_exponent(2.5, {2, -1, 0.5}),
                 {5.72681707421347, 0.3665162927496621, 1.4487828558124876});
}

TEST(Pow, by_a_number_has_derivatives_with_all_digits) {
  for (const double p : {2.3, -0.7, 1.0 / 3, 0.5, 1.0, 2.0, 3.0, -1.0}) {
    const Tensor x = tensor<double>({0.75, 1.7, 3}).set_requires_grad(true);
    const Tensor first =
        grad(std::array{sum(pow(x, p))}, std::array{x}, {}, {.create_graph = true})[0];
    const Tensor second = grad(std::array{sum(first * x)}, std::array{x})[0];
    Doubles slopes, bends;
    for (const double value : {0.75, 1.7, 3.0}) {
      slopes.push_back(p * std::pow(value, p - 1));
      bends.push_back(p * p * std::pow(value, p - 1));  // of p x^p
    }
    SCOPED_TRACE(p);
    expect_numbers(first, slopes, 1e-12);
    expect_numbers(second, bends, 1e-12);
  }
}

TEST(Pow, of_complex_zeros_is_1) {
  using C = std::complex<double>;
  const Tensor x = from_values<C>({{0, 0}, {0, 0}, {3, 1}}, {3});
  const Tensor y = from_values<C>({{0, 0}, {2, 0}, {0, 0}}, {3});
  for (const DType dtype : {DType::c64, DType::c128}) {
    EXPECT_EQ(pow(cast(x, dtype), cast(y, dtype)).to_vector<C>(), (std::vector<C>{1, 0, 1}));
  }
}

TEST(Pow, of_0_by_the_exponent_is_that_of_pytorch) {
  const Doubles slopes = slope_by_exponent(zeros({5}, {.dtype = DType::f64}), {-1, 0, 1, 2, NAN});
  expect_numbers({slopes[1], slopes[2], slopes[3]}, Doubles{0, 0, 0});
  EXPECT_EQ(slopes[0], -INFINITY);
  EXPECT_TRUE(std::isnan(slopes[4]));
}

TEST(Pow, by_0_has_a_second_derivative_of_0) {
  Tensor x = tensor<double>({0, 1, -2}).set_requires_grad(true);
  const Tensor y = sum(pow(x, 0));
  const Tensor slope = grad(std::array{y}, std::array{x}, {}, {.create_graph = true})[0];
  sum(slope * slope + x * 0.0).backward();
  expect_numbers(x.grad().to_vector<double>(), Doubles{0, 0, 0});
}

}  // namespace
}  // namespace tessera
