#include <tessera/core/ops/slice.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/factories.h>

#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

const RegisterOpCase<Slice> kSliceCase{{
    .samples = {{.inputs = {real({4, 6, 2})}, .attrs = {.dim = 1, .start = 1, .end = 6, .step = 2}},
                {.inputs = {real({4, 6})}, .attrs = {.dim = -1, .start = -2}},
                {.inputs = {real({4, 6})}, .attrs = {.dim = 0, .start = 3, .end = 1}},
                {.inputs = {real({1, 2, 3})}, .attrs = {.dim = 1, .start = 1}}},
    .wrong = {{.inputs = {real({4})}, .attrs = {.dim = 1}},
              {.inputs = {real({4})}, .attrs = {.step = 0}},
              {.inputs = {real({})}}},
    .dtypes = kAllDTypes,
}};

TEST(Slice, takes_every_step_up_to_the_largest) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const Tensor x = reshape(arange(15, {.dtype = DType::f64}), {5, 3}).set_requires_grad(true);
  for (const std::int64_t step : {std::int64_t{1}, std::int64_t{2}, std::int64_t{4},
                                  std::int64_t{5}, std::int64_t{6}, kMost / 2, kMost - 1, kMost}) {
    for (std::int64_t start = 0; start <= 5; ++start) {
      std::vector<double> rows, gradient(15);
      for (std::int64_t i = start; i < 5; i += std::min<std::int64_t>(step, 5)) {
        const auto first = static_cast<double>(i * 3);
        rows.insert(rows.end(), {first, first + 1, first + 2});
        std::fill_n(gradient.begin() + i * 3, 3, 1);
      }
      SCOPED_TRACE(testing::Message() << "from " << start << " by " << step);
      const Tensor y = slice(x, 0, start, Slice::kEnd, step);
      EXPECT_EQ(y.to_vector<double>(), rows);
      EXPECT_EQ(grad(std::array{sum(y)}, std::array{x})[0].to_vector<double>(), gradient);
    }
  }
}

}  // namespace
}  // namespace tessera
