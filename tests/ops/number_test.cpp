// A number beside a tensor: it takes part in f32, or in f64 beside f64, whatever kernel runs.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/base/philox.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/ops/maximum.h>
#include <tessera/core/ops/minimum.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/neg.h>
#include <tessera/core/ops/pow.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/where.h>
#include <tessera/core/tensor/factories.h>

#include "support/expect_numbers.h"
#include "support/op_tools.h"

namespace tessera {
namespace {

constexpr std::int64_t kCount = 2000;

/// Floating numbers with all their bits in use.
Tensor noise(DType dtype) {
  Tensor x = empty({kCount}, {.dtype = DType::f64});
  for (std::int64_t i = 0; i < kCount; ++i) {
    const auto word = RandomStream{.key = 3}.word(static_cast<std::uint64_t>(i));
    x.data<double>()[i] = 4 * static_cast<double>(to_uniform(word)) - 2;
  }
  return cast(x, dtype);
}

/// f over the elements of x and 0.3, in the arithmetic of T.
template <class T, class F>
Tensor in_arithmetic_of(const Tensor& x, const F& f) {
  Tensor y = empty({kCount}, {.dtype = dtype_of<T>});
  const std::vector<T> values = x.to_vector<T>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    y.data<T>()[i] = f(values[i], static_cast<T>(0.3));
  }
  return cast(y, x.dtype());
}

/// The op with a number and with a 0-d tensor, by all kernels, against plain arithmetic.
template <OpStruct Op, class F>
void expect_plain_arithmetic(const F& f) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const std::string what = std::string(Op::info.name) + " " + std::string(to_string(dtype));
    const Tensor x = noise(dtype);
    const Tensor expected =
        dtype == DType::f64 ? in_arithmetic_of<double>(x, f) : in_arithmetic_of<float>(x, f);
    const typename Op::Attrs attrs;
    for (const Tensor& y : {Number(0.3).tensor(), scalar(0.3, {.dtype = DType::f64})}) {
      test::expect_same_bits(call<Op>({x, y}), expected, what);
      test::expect_same_bits(test::run_reference(op_def<Op>(), {x, y}, &attrs)[0], expected,
                             what + " reference");
    }
  }
}

TEST(Numbers, take_part_as_f32_beside_narrow_floats) {
  expect_plain_arithmetic<Add>([](auto a, auto b) { return a + b; });
  expect_plain_arithmetic<Sub>([](auto a, auto b) { return a - b; });
  expect_plain_arithmetic<Mul>([](auto a, auto b) { return a * b; });
  expect_plain_arithmetic<Div>([](auto a, auto b) { return a / b; });
}

TEST(Numbers, on_the_left_give_the_bits_that_they_give_on_the_right) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const Tensor x = noise(dtype);
    test::expect_same_bits(0.3 * x, x * 0.3, "mul");
    test::expect_same_bits(0.3 + x, x + 0.3, "add");
    test::expect_same_bits(0.3 - x, -(x - 0.3), "sub");
  }
}

TEST(Numbers, in_place_give_the_same_bits) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const Tensor x = noise(dtype);
    test::expect_same_bits(mul_(clone(x), 0.3), x * 0.3, "mul_");
    test::expect_same_bits(add_(clone(x), 0.3), x + 0.3, "add_");
  }
}

TEST(Numbers, compare_as_what_the_tensor_holds_of_them) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const Tensor x = cast(tensor<double>({0.3, 0.25}), dtype);
    EXPECT_EQ(eq(x, 0.3).to_vector<bool>(), (std::vector<bool>{true, false}));
    EXPECT_EQ((x < 0.3).to_vector<bool>(), (std::vector<bool>{false, true}));
    EXPECT_EQ((x >= scalar(0.3, {.dtype = DType::f64})).to_vector<bool>(),
              (std::vector<bool>{true, false}));
  }
}

/// f(x, c) and its first and second derivatives by x.
template <class C>
std::array<std::vector<double>, 3> derivatives(const auto& f, const C& c) {
  const Tensor x = tensor<double>({0.75, 1.7, 0.3, 2}).set_requires_grad(true);
  const Tensor y = f(x, c);
  const Tensor first = grad(std::array{sum(y)}, std::array{x}, {}, {.create_graph = true})[0];
  const Tensor second = grad(std::array{sum(first * x)}, std::array{x})[0];
  return {y.to_vector<double>(), first.to_vector<double>(), second.to_vector<double>()};
}

// Numbers alone among themselves would be f32.
TEST(Numbers, give_derivatives_in_f64_that_tensors_of_them_give) {
  const auto expect_same = [](const char* name, const auto& f) {
    for (const double c : {0.3, 2.3, -1.7}) {
      const auto got = derivatives(f, c);
      const auto want = derivatives(f, full({4}, c, {.dtype = DType::f64}));
      for (std::size_t order = 0; order < 3; ++order) {
        SCOPED_TRACE(testing::Message() << name << " " << c << ", derivative " << order);
        testing_support::expect_numbers(got[order], want[order], 1e-14);
      }
    }
  };
  expect_same("x + c", [](const auto& x, const auto& c) { return (x + c) * x; });
  expect_same("c - x", [](const auto& x, const auto& c) { return (c - x) * x; });
  expect_same("x * c", [](const auto& x, const auto& c) { return x * c * x; });
  expect_same("x / c", [](const auto& x, const auto& c) { return x / c * x; });
  expect_same("c / x", [](const auto& x, const auto& c) { return c / x; });
  expect_same("x^c", [](const auto& x, const auto& c) { return pow(x, c); });
  expect_same("c^x", [](const auto& x, const auto& c) { return pow(c * c, x); });
  expect_same("max", [](const auto& x, const auto& c) { return maximum(x * x, c); });
  expect_same("min", [](const auto& x, const auto& c) { return minimum(c, x * x); });
  expect_same("where", [](const auto& x, const auto& c) { return where(x > c, x * x, c); });
}

}  // namespace
}  // namespace tessera
