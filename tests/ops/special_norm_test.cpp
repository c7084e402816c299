// Norms of rows of special values.
#include <tessera/core/ops/layer_norm.h>

#include "ops/special_rows.h"

#include <tessera/core/ops/batch_norm.h>
#include <tessera/core/ops/rms_norm.h>

namespace tessera {
namespace {

using testing_support::dot_of;
using testing_support::Exact;
using testing_support::ExactLine;
using testing_support::expect_everywhere;
using testing_support::LineTruth;

/// Of a row: (x - mean) / sqrt(mean((x - mean)^2) + epsilon), and its gradient.
LineTruth norm_truth(const ExactLine& x, const ExactLine& g, bool centered) {
  const auto n = static_cast<Exact>(x.size());
  const ExactLine ones(x.size(), 1);
  const Exact mean = centered ? dot_of(x, ones) / n : 0;
  LineTruth t;
  for (const Exact value : x) {
    t.y.push_back(value - mean);
  }
  const Exact inverse = 1 / std::sqrt(dot_of(t.y, t.y) / n + static_cast<Exact>(1e-5));
  for (Exact& value : t.y) {
    value *= inverse;
  }
  t.terms = inverse;
  const Exact average = centered ? dot_of(g, ones) / n : 0;
  const Exact along = dot_of(g, t.y) / n;
  for (std::size_t i = 0; i < x.size(); ++i) {
    t.dx.push_back((g[i] - average - t.y[i] * along) * inverse);
  }
  return t;
}

TEST(SpecialValues, layer_norm) {
  const auto truth = [](const ExactLine& x, const ExactLine& g) { return norm_truth(x, g, true); };
  expect_everywhere({"layer_norm", [](const Tensor& x) { return layer_norm(x); }, truth, 4096},
                    {DType::f16, DType::bf16, DType::f32});
}

/// y of batch norm and the gradients of x and weight, of numbers near `size`.
std::vector<std::vector<double>> batch_norm_results(const Shape& shape, double size, DType dtype) {
  Tensor x = empty(shape, {.dtype = dtype}), g = empty(shape, {.dtype = dtype});
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    store_as(x.get(), i, static_cast<double>(i * 37 % 11) * size);
    store_as(g.get(), i, static_cast<double>(i * 29 % 64) / 64);
  }
  Tensor weight = ones({shape[1]}), bias = zeros({shape[1]});
  x.set_requires_grad(true);
  weight.set_requires_grad(true);
  const Tensor y = batch_norm(x, weight, bias).y;
  sum(y * g).backward();
  return {y.to_vector<double>(), (x.grad() * size).to_vector<double>(),
          weight.grad().to_vector<double>()};
}

TEST(SpecialValues, batch_norm_of_large_numbers) {
  test::on_every_isa([&](cpu::Isa) {
    for (const Shape& shape : {Shape{7, 19}, Shape{3, 2, 21}}) {
      const auto want = batch_norm_results(shape, 1, DType::f64);
      const auto got = batch_norm_results(shape, 0x1p100, DType::f32);
      for (std::size_t r = 0; r < want.size(); ++r) {
        for (std::size_t i = 0; i < want[r].size(); ++i) {
          EXPECT_NEAR(got[r][i], want[r][i], 1e-5 * std::abs(want[r][i]) + 1e-4) << r << " " << i;
        }
      }
    }
  });
}

TEST(SpecialValues, rms_norm) {
  const auto truth = [](const ExactLine& x, const ExactLine& g) { return norm_truth(x, g, false); };
  expect_everywhere(
      {"rms_norm", [](const Tensor& x) { return rms_norm(x, {}, 1e-5); }, truth, 4096},
      {DType::f16, DType::bf16, DType::f32});
}

}  // namespace
}  // namespace tessera
