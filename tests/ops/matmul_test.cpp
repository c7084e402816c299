#include <tessera/core/ops/matmul.h>

#include <gtest/gtest.h>

#include <tessera/core/dispatch/autocast.h>

#include "ops/gradients.h"

namespace tessera {
namespace {

using testing::expect_gradients;
using testing::expect_second_gradients;
using testing::Inputs;
using testing::numbers;

TEST(Matmul, multiplies_matrices) {
  const Tensor a = from_values<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor b = from_values<float>({1, 0, 0, 1, 1, 1}, {3, 2});
  const Tensor c = matmul(a, b);
  EXPECT_EQ(c.shape(), (Shape{2, 2}));
  EXPECT_EQ(c.to_vector<float>(), (std::vector<float>{4, 5, 10, 11}));
}

TEST(Matmul, multiplies_integers) {
  const Tensor a = from_values<std::int64_t>({1, 2, 3, 4}, {2, 2});
  EXPECT_EQ(matmul(a, a).to_vector<std::int64_t>(), (std::vector<std::int64_t>{7, 10, 15, 22}));
}

TEST(Matmul, gradients_with_and_without_transposition) {
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      const Inputs inputs{numbers(ta ? Shape{3, 2} : Shape{2, 3}, 1),
                          numbers(tb ? Shape{4, 3} : Shape{3, 4}, 2)};
      const auto f = [&](const Inputs& x) { return matmul(x[0], x[1], ta, tb); };
      expect_gradients(f, inputs);
      expect_second_gradients(f, inputs);
    }
  }
}

TEST(Matmul, gradients_sum_over_dims_that_broadcast) {
  const auto f = [](const Inputs& x) { return matmul(x[0], x[1]); };
  expect_gradients(f, {numbers({2, 1, 3, 2}, 1), numbers({4, 2, 3}, 2)});
  expect_gradients(f, {numbers({2, 3, 2}, 1), numbers({2, 3}, 2)});
}

TEST(Matmul, bits_do_not_depend_on_passes) {
  testing::expect_same_bits_for_all_passes(
      [](const Inputs& p, const Inputs& x) { return testing::loss_of_samples(matmul(x[0], p[0])); },
      {numbers({3, 5}, 2, DType::f32)}, {numbers({8, 4, 3}, 1, DType::f32)});
}

TEST(Matmul, autocast_rounds_factors_and_results) {
  const AutocastScope autocast(DType::bf16);
  const Tensor a = full({1, 1}, 1.00390625);  // between two bf16 numbers
  EXPECT_EQ(matmul(a, a).dtype(), DType::bf16);
  EXPECT_EQ(matmul(a, a).item(), 1);
  EXPECT_EQ(matmul(numbers({2, 2}, 1), numbers({2, 2}, 1)).dtype(), DType::f64);
}

TEST(Matmul, names_what_does_not_fit) {
  try {
    static_cast<void>(matmul(zeros({2, 3}), zeros({4, 2})));
    FAIL();
  } catch (const InvalidArgument& e) {
    EXPECT_STREQ(e.what(), "matmul: inner sizes differ; got 3 and 4 in shapes (2, 3) and (4, 2)");
  }
}

}  // namespace
}  // namespace tessera
