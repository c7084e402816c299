// Softmax and its kin on rows of special values.
#include <tessera/core/ops/softmax.h>

#include "ops/special_rows.h"

#include <tessera/core/ops/cross_entropy.h>
#include <tessera/core/ops/log_softmax.h>
#include <tessera/core/ops/logsumexp.h>

namespace tessera {
namespace {

using testing_support::dot_of;
using testing_support::Exact;
using testing_support::ExactLine;
using testing_support::expect_everywhere;
using testing_support::LineTruth;

constexpr std::initializer_list<DType> kFloats{DType::f16, DType::bf16, DType::f32, DType::f64};

/// The largest number, and log(sum(e^(x - top))): both nan where one of x is.
struct ExactSum {
  explicit ExactSum(const ExactLine& x) {
    for (const Exact value : x) {
      top = std::isnan(value) || value > top ? value : top;
    }
    Exact total = 0;
    for (const Exact value : x) {
      total += std::exp(value - top);
    }
    log_total = std::log(total);
  }
  Exact top = -std::numeric_limits<Exact>::infinity(), log_total = 0;
};

/// nan where the largest number is infinite.
ExactLine exact_log_softmax(const ExactLine& x) {
  const ExactSum sum(x);
  ExactLine y;
  for (const Exact value : x) {
    y.push_back(value - sum.top - sum.log_total);
  }
  return y;
}

LineTruth softmax_truth(const ExactLine& x, const ExactLine& g) {
  LineTruth t;
  for (const Exact value : exact_log_softmax(x)) {
    t.y.push_back(std::exp(value));
  }
  const Exact along = dot_of(t.y, g);
  for (std::size_t i = 0; i < x.size(); ++i) {
    t.dx.push_back(t.y[i] * (g[i] - along));
  }
  return t;
}

LineTruth log_softmax_truth(const ExactLine& x, const ExactLine& g) {
  const Exact total = dot_of(g, ExactLine(g.size(), 1));
  LineTruth t{exact_log_softmax(x), {}, total};
  for (std::size_t i = 0; i < x.size(); ++i) {
    t.dx.push_back(g[i] - std::exp(t.y[i]) * total);
  }
  return t;
}

TEST(SpecialValues, softmax) {
  expect_everywhere({"softmax", [](const Tensor& x) { return softmax(x, -1); }, softmax_truth},
                    kFloats);
}

TEST(SpecialValues, log_softmax) {
  expect_everywhere(
      {"log_softmax", [](const Tensor& x) { return log_softmax(x, -1); }, log_softmax_truth},
      kFloats);
}

TEST(SpecialValues, logsumexp) {
  const auto truth = [](const ExactLine& x, const ExactLine& g) {
    const ExactSum sum(x);
    LineTruth t;
    t.y.push_back(std::isinf(sum.top) ? sum.top : sum.top + sum.log_total);
    for (const Exact value : exact_log_softmax(x)) {
      t.dx.push_back(sum.top == -INFINITY ? 0 : std::exp(value) * g[0]);
    }
    return t;
  };
  expect_everywhere({"logsumexp", [](const Tensor& x) { return logsumexp(x, {-1}); }, truth},
                    kFloats);
}

TEST(SpecialValues, cross_entropy) {
  const auto op = [](const Tensor& x) {
    Tensor targets = zeros({x.size(0)}, {.dtype = DType::i64});
    return cross_entropy(x, targets, {.reduction = LossReduction::none});
  };
  const auto truth = [](const ExactLine& x, const ExactLine& g) {
    const ExactLine logs = exact_log_softmax(x);
    LineTruth t{{-logs[0]}, {}};
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Exact p = std::exp(logs[i]) - (i == 0 ? 1 : 0);
      t.dx.push_back(g[0] == 0 ? 0 : p * g[0]);
    }
    return t;
  };
  expect_everywhere({"cross_entropy", op, truth}, kFloats);
}

}  // namespace
}  // namespace tessera
