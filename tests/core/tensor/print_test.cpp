// Expected texts are PyTorch's, but for the names of dtypes and what follows the elements.
#include <gtest/gtest.h>

#include <cmath>

#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {
namespace {

std::string text(const Tensor& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

TEST(Print, whole_numbers_end_in_a_point) {
  EXPECT_EQ(text(tensor({1.F, 2.F, -10.F})), "tensor([  1.,   2., -10.])");
}

TEST(Print, fractions_have_four_digits) {
  EXPECT_EQ(text(tensor({0.5F, 2.F})), "tensor([0.5000, 2.0000])");
}

TEST(Print, numbers_far_apart_have_exponents) {
  EXPECT_EQ(text(tensor<double>({0.0001, 2000.5})), "tensor([1.0000e-04, 2.0005e+03], dtype=f64)");
}

TEST(Print, integers_bools_and_complex_numbers) {
  EXPECT_EQ(text(tensor<std::int64_t>({1, -20})), "tensor([  1, -20])");
  EXPECT_EQ(text(tensor<bool>({true, false})), "tensor([ True, False])");
  EXPECT_EQ(text(tensor<std::complex<float>>({{1.5F, -2}, {0, 1}})),
            "tensor([1.5000-2.j, 0.0000+1.j])");
}

TEST(Print, infinities_and_nans) {
  EXPECT_EQ(text(tensor({INFINITY, NAN, 1.F})), "tensor([inf, nan, 1.])");
}

TEST(Print, matrices_are_nested) {
  EXPECT_EQ(text(reshape(arange(6), {2, 3})),
            "tensor([[0, 1, 2],\n"
            "        [3, 4, 5]])");
  EXPECT_EQ(text(reshape(arange(4), {2, 1, 2})),
            "tensor([[[0, 1]],\n"
            "\n"
            "        [[2, 3]]])");
}

TEST(Print, long_lines_are_broken) {
  EXPECT_EQ(text(arange(26)),
            "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
            "        18, 19, 20, 21, 22, 23, 24, 25])");
}

TEST(Print, large_tensors_show_their_ends) {
  EXPECT_EQ(text(arange(2000)), "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])");
}

TEST(Print, scalars_empty_and_meta_tensors) {
  EXPECT_EQ(text(scalar(3.0)), "tensor(3.)");
  EXPECT_EQ(text(empty({0})), "tensor([])");
  EXPECT_EQ(text(empty({0, 3})), "tensor([], size=(0, 3))");
  EXPECT_EQ(text(empty({2}, {.device = {.type = DeviceType::meta}})),
            "tensor(..., device=meta, size=(2,))");
  EXPECT_EQ(text(Tensor()), "tensor(undefined)");
}

TEST(Print, says_where_gradients_flow) {
  const Tensor x = tensor({1.F}).set_requires_grad(true);
  EXPECT_EQ(text(x), "tensor([1.], requires_grad=true)");
  EXPECT_EQ(text(x * 2), "tensor([2.], from=mul)");
}

}  // namespace
}  // namespace tessera
