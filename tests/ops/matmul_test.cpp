#include <tessera/core/ops/matmul.h>

#include <gtest/gtest.h>

#include <tessera/core/dispatch/autocast.h>

#include "ops/gradients.h"
#include "support/op_case.h"

namespace tessera {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)
using testing_support::expect_gradients;
using testing_support::expect_second_gradients;
using testing_support::Inputs;
using testing_support::numbers;

void set_dtype(Matmul::Attrs& attrs, DType dtype) {
  if (!is_complex(attrs.dtype)) {
    attrs.dtype = attrs.result = dtype;
  }
}

const RegisterOpCase<Matmul> kMatmulCase{{
    .samples = {{.inputs = {real({4, 6}), real({6, 8})}},
                {.inputs = {real({2, 6, 4}), real({2, 8, 6})},
                 .attrs = {.transpose_a = true, .transpose_b = true}},
                {.inputs = {real({2, 1, 4, 3}), real({4, 3, 2})}},
                {.inputs = {real({2, 4, 3}), real({2, 3})}, .attrs = {.transpose_b = true}},
                {.inputs = {complex({2, 3}), complex({3, 2})},
                 .attrs = {.dtype = DType::c128, .result = DType::c128}}},
    .wrong = {{.inputs = {real({4, 6}), real({5, 3})}},
              {.inputs = {real({4}), real({4, 3})}},
              {.inputs = {complex({4, 3}), real({3, 2})}},
              {.inputs = {real({2, 4, 3}), real({3, 3, 2})}}},
    .dtypes = kNumberDTypes,
    .tolerance = {.of_largest = 2},
    .set_dtype = set_dtype,
}};

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

TEST(Matmul, a_vector_is_a_row_on_the_left_and_a_column_on_the_right) {
  const Tensor v = tensor({1.F, 2.F});
  const Tensor m = from_values<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor batch = from_values<float>({1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2});
  const auto expect = [](const Tensor& y, const Shape& shape, const std::vector<float>& values) {
    EXPECT_EQ(y.shape(), shape);
    EXPECT_EQ(y.to_vector<float>(), values);
  };
  expect(matmul(v, v), {}, {5});
  expect(matmul(v, m), {3}, {9, 12, 15});
  expect(matmul(m, tensor({1.F, 0.F, 1.F})), {2}, {4, 10});
  expect(matmul(batch, v), {2, 2}, {5, 11, 17, 23});
  expect(matmul(v, batch), {2, 2}, {7, 10, 19, 22});
  EXPECT_THROW(static_cast<void>(matmul(v, scalar(1.F))), InvalidArgument);
  EXPECT_THROW(static_cast<void>(matmul(v, tensor({1.F, 0.F, 1.F}))), InvalidArgument);
}

TEST(Matmul, gradients_of_vectors) {
  const auto f = [](const Inputs& x) { return matmul(x[0], x[1]); };
  for (const Inputs& inputs :
       {Inputs{numbers({3}, 1), numbers({3}, 2)}, Inputs{numbers({2, 4, 3}, 1), numbers({3}, 2)},
        Inputs{numbers({3}, 1), numbers({2, 3, 4}, 2)}}) {
    expect_gradients(f, inputs);
    expect_second_gradients(f, inputs);
  }
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
  testing_support::expect_same_bits_for_all_passes(
      [](const Inputs& p, const Inputs& x) {
        return testing_support::loss_of_samples(matmul(x[0], p[0]));
      },
      {numbers({3, 5}, 2, DType::f32)}, {numbers({8, 4, 3}, 1, DType::f32)});
}

TEST(Matmul, bits_of_products_with_a_vector_do_not_depend_on_passes) {
  testing_support::expect_same_bits_for_all_passes(
      [](const Inputs& p, const Inputs& x) {
        return testing_support::loss_of_samples(matmul(x[0], p[0]));
      },
      {numbers({3}, 2, DType::f32)}, {numbers({8, 4, 3}, 1, DType::f32)});
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
    EXPECT_STREQ(e.what(), "matmul: wrong inner size; got 4 in (2, 3) times (4, 2), expected 3");
  }
}

}  // namespace
}  // namespace tessera
