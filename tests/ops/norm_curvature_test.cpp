// First and second derivatives of vector norms where some elements are 0.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/expand.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/norm.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/factories.h>

#include "ops/gradients.h"
#include "support/expect_numbers.h"

namespace tessera {
namespace {

using testing_support::Doubles;
using testing_support::doubles;
using testing_support::expect_numbers;
using testing_support::numbers;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

const Shape& normed_shape() {
  static const Shape shape{3, 4, 2};
  return shape;
}

/// Zeros in every row of 4, and a plane of nothing else.
Tensor with_zeros() {
  return reshape(tensor<double>({0.5, 0,  0,    -2, 1.5, -1, -0.25, 0,  //
                                 0,   0,  0,    0,  0,   0,  0,     0,  //
                                 3,   -1, -2.5, 0,  0,   0,  1,     0.75}),
                 normed_shape());
}

/// The elements of which one norm is taken, as positions in row-major order.
std::vector<std::vector<std::size_t>> groups_over(const Dims& dims) {
  std::map<std::vector<std::int64_t>, std::vector<std::size_t>> groups;
  StridedCounter<1> at(normed_shape(), {contiguous_strides(normed_shape())});
  for (std::int64_t i = 0; i < numel_of(normed_shape()); ++i, at.next()) {
    std::vector<std::int64_t> place(at.index().begin(), at.index().end());
    for (int d = 0; d < 3; ++d) {
      const bool reduced = dims.empty() || std::find(dims.begin(), dims.end(), d) != dims.end();
      place[static_cast<std::size_t>(d)] *= reduced ? 0 : 1;
    }
    groups[place].push_back(static_cast<std::size_t>(i));
  }
  std::vector<std::vector<std::size_t>> all;
  for (auto& [place, group] : groups) {
    all.push_back(std::move(group));
  }
  return all;
}

double norm_by_hand(const Doubles& x, double p) {
  double sum = 0;
  for (const double value : x) {
    sum = p == kInfinity ? std::max(sum, std::abs(value)) : sum + std::pow(std::abs(value), p);
  }
  return p == kInfinity ? sum : std::pow(sum, 1 / p);
}

/// d norm / d x_i, and 0 where there is none.
Doubles slopes_by_hand(const Doubles& x, double p) {
  const double n = norm_by_hand(x, p);
  const auto largest = [n](double value) { return std::abs(value) == n; };
  const auto ties = static_cast<double>(std::ranges::count_if(x, largest));
  Doubles slopes;
  for (const double value : x) {
    const double size =
        p == kInfinity ? (largest(value) ? 1 / ties : 0) : std::pow(std::abs(value) / n, p - 1);
    slopes.push_back(value == 0 ? 0 : std::copysign(size, value));
  }
  return slopes;
}

/// The Hessian times v: (p - 1) / n (|x_i / n|^(p - 2) v_i - u_i (u . v)) with slopes u.
Doubles curvature_by_hand(const Doubles& x, const Doubles& v, double p) {
  const double n = norm_by_hand(x, p);
  const Doubles u = slopes_by_hand(x, p);
  const double along = std::inner_product(u.begin(), u.end(), v.begin(), 0.0);
  Doubles result;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double bend = p == 2 ? 1 : x[i] == 0 ? 0 : std::pow(std::abs(x[i]) / n, p - 2);
    const bool flat = n == 0 || p == 1 || p == kInfinity;
    result.push_back(flat ? 0 : (p - 1) / n * (bend * v[i] - u[i] * along));
  }
  return result;
}

Doubles chosen(const Doubles& from, const std::vector<std::size_t>& group) {
  Doubles result;
  for (const std::size_t i : group) {
    result.push_back(from[i]);
  }
  return result;
}

void expect_derivatives(const Dims& dims, double p, bool through_complex) {
  const Tensor x = with_zeros().set_requires_grad(true);
  const Tensor y = norm(through_complex ? cast(x, DType::c128) : x, p, dims, true);
  const Tensor weights = numbers(y.shape(), 5), v = numbers(x.shape(), 6);
  const Tensor first =
      grad(std::array{sum(y * weights)}, std::array{x}, {}, {.create_graph = true})[0];
  const Tensor bent = grad(std::array{sum(first * v)}, std::array{x})[0];
  const Tensor second = bent.defined() ? bent : zeros(x.shape());
  const Doubles c = doubles(contiguous(expand(weights, x.shape())));
  Doubles slopes(24), curvature(24);
  for (const auto& group : groups_over(dims)) {
    const Doubles values = chosen(doubles(x), group);
    const Doubles u = slopes_by_hand(values, p);
    const Doubles h = curvature_by_hand(values, chosen(doubles(v), group), p);
    for (std::size_t i = 0; i < group.size(); ++i) {
      slopes[group[i]] = c[group[i]] * u[i];
      curvature[group[i]] = c[group[i]] * h[i];
    }
  }
  expect_numbers(first, slopes, 1e-12);
  expect_numbers(second, curvature, 1e-11);
}

TEST(VectorNorm, first_and_second_derivatives_beside_zeros) {
  for (const double p : {0.25, 0.5, 1.0, 1.5, 2.0, 2.3, 3.0, 4.0, kInfinity}) {
    for (const Dims& dims : {Dims{}, Dims{0}, Dims{1}, Dims{2}, Dims{0, 2}, Dims{1, 2}}) {
      for (const bool through_complex : {false, true}) {
        SCOPED_TRACE(testing::Message() << "p " << p << ", dims " << dims << ", "
                                        << (through_complex ? "complex" : "real"));
        expect_derivatives(dims, p, through_complex);
      }
    }
  }
}

// What PyTorch gives for a penalty (norm - 1)^2 on a gradient behind relu.
TEST(VectorNorm, penalty_of_a_gradient_behind_relu_is_that_of_pytorch) {
  const Tensor x = tensor<double>({0.75, 0, 0, -1.25}).set_requires_grad(true);
  const Tensor gap = norm(x) + -1.0;
  const Tensor first = grad(std::array{gap * gap}, std::array{x}, {}, {.create_graph = true})[0];
  const Tensor weighted = first * tensor<double>({1, 2, 3, 4});
  const Tensor second = grad(std::array{sum(weighted)}, std::array{x})[0];
  expect_numbers(second,
                 {-1.429971702850176, 1.2560226377198587, 1.8840339565797881, 5.942016978289892});
}

TEST(VectorNorm, largest_size_of_nothing_is_an_error) {
  EXPECT_THROW(static_cast<void>(norm(zeros({2, 0}), kInfinity, {1})), InvalidArgument);
  EXPECT_EQ(norm(zeros({2, 0}), kInfinity, {0}).shape(), (Shape{0}));
}

TEST(VectorNorm, ties_in_f16_are_more_than_it_counts) {
  const Tensor x = ones({70'000}, {.dtype = DType::f16}).set_requires_grad(true);
  norm(x, kInfinity).backward();
  EXPECT_NEAR(x.grad().to_vector<float>()[3], 1.0F / 70'000, 1e-6F);
}

}  // namespace
}  // namespace tessera
