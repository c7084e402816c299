#include <tessera/core/ops/softmax.h>

#include <gtest/gtest.h>

#include <limits>

#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/log_softmax.h>

#include "ops/gradients.h"
#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using testing_support::expect_gradients;
using testing_support::expect_second_gradients;
using testing_support::Inputs;
using testing_support::numbers;

template <class Op>
OpCase<Op> case_of_lines() {
  return {.samples = {{.inputs = {real({4, 6})}, .attrs = {1}},
                      {.inputs = {real({2, 6, 4})}, .attrs = {1}}},
          .wrong = {{.inputs = {integers({4, 6}, 0, 2)}, .attrs = {1}},
                    {.inputs = {real({4, 6})}, .attrs = {2}},
                    {.inputs = {real({})}, .attrs = {0}}},
          .tolerance = {.of_largest = 2}};
}

template <class Op>
OpCase<Op> case_of_gradients() {
  return {.samples = {{.inputs = {real({4, 6}), real({4, 6}, -2, 0)}, .attrs = {1}},
                      {.inputs = {real({2, 6, 4}), real({2, 6, 4}, -2, 0)}, .attrs = {1}}},
          .wrong = {{.inputs = {real({4, 6}), real({4, 5})}, .attrs = {1}},
                    {.inputs = {real({4, 6}), integers({4, 6}, 0, 2)}, .attrs = {1}}},
          .tolerance = {.of_largest = 2}};
}

const RegisterOpCase<Softmax> kSoftmaxCase{case_of_lines<Softmax>()};
const RegisterOpCase<LogSoftmax> kLogSoftmaxCase{case_of_lines<LogSoftmax>()};
const RegisterOpCase<SoftmaxBackward> kSoftmaxBackwardCase{case_of_gradients<SoftmaxBackward>()};
const RegisterOpCase<LogSoftmaxBackward> kLogSoftmaxBackwardCase{
    case_of_gradients<LogSoftmaxBackward>()};

constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(Softmax, does_not_overflow) {
  const Tensor y = softmax(tensor({1000.F, 1000.F, -kInf}), 0);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{0.5F, 0.5F, 0}));
  const Tensor z = log_softmax(tensor({1000.F, 1000.F, -kInf}), 0);
  EXPECT_FLOAT_EQ(z.to_vector<float>()[0], -std::log(2.F));
  EXPECT_EQ(z.to_vector<float>()[2], -kInf);
}

TEST(Softmax, logarithm_keeps_its_digits_where_logits_are_large) {
  const auto differences = [](double offset, DType dtype) {
    const Tensor x = cast(tensor({offset, offset + 1, offset - 2}), dtype);
    return log_softmax(x, 0).to_vector<double>();
  };
  for (const DType dtype : {DType::f32, DType::f64}) {
    const double tolerance = dtype == DType::f32 ? 3e-7 : 1e-15;
    const std::vector<double> want = differences(0, dtype);
    const std::vector<double> got = differences(10000, dtype);
    for (std::size_t i = 0; i < want.size(); ++i) {
      EXPECT_NEAR(got[i], want[i], tolerance) << i;
    }
  }
}

TEST(Softmax, gradients_along_any_dim) {
  for (const int dim : {0, 1, -1}) {
    const auto f = [&](const Inputs& x) { return softmax(x[0], dim); };
    const auto g = [&](const Inputs& x) { return log_softmax(x[0], dim); };
    const Inputs inputs{numbers({2, 3, 4}, 1)};
    expect_gradients(f, inputs);
    expect_gradients(g, inputs);
    expect_second_gradients(f, inputs);
    expect_second_gradients(g, inputs);
  }
}

TEST(Softmax, names_a_dim_that_is_not_there) {
  EXPECT_THROW(static_cast<void>(softmax(zeros({2}), 1)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(log_softmax(zeros({2}, {.dtype = DType::i64}), 0)),
               InvalidArgument);
}

}  // namespace
}  // namespace tessera
