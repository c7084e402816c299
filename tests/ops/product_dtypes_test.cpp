// Products of f64 and narrower floats are refused, everything elementwise promotes: as in PyTorch.
#include <string>

#include <gtest/gtest.h>

#include <tessera/core/dispatch/autocast.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/attention.h>
#include <tessera/core/ops/batch_norm.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/convolution.h>
#include <tessera/core/ops/group_norm.h>
#include <tessera/core/ops/layer_norm.h>
#include <tessera/core/ops/linear.h>
#include <tessera/core/ops/linear_cross_entropy.h>
#include <tessera/core/ops/matmul.h>
#include <tessera/core/ops/recurrent.h>
#include <tessera/core/ops/rms_norm.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {
namespace {

/// What a call is refused with.
template <class F>
std::string refusal(const F& call) {
  try {
    static_cast<void>(call());
  } catch (const TypeError& e) {
    return e.what();
  }
  return "";
}

Tensor wide(const Tensor& x) {
  return cast(x, DType::f64);
}

TEST(ProductDtypes, SayWhichFactorsDiffer) {
  const Tensor x = randn({2, 3}), weight = randn({4, 3});
  EXPECT_EQ(refusal([&] { return linear(wide(x), weight); }),
            "linear: weight and x have different dtypes; got f32 and f64, expected one: bring x to "
            "f32 by cast(x, DType::f32), or weight to f64");
  EXPECT_EQ(refusal([&] { return matmul(x, wide(x), false, true); }),
            "matmul: a and b have different dtypes; got f32 and f64, expected one: bring b to f32 "
            "by cast(b, DType::f32), or a to f64");
}

TEST(ProductDtypes, AreOneInAllProducts) {
  const Tensor image = randn({1, 2, 4, 4}), window = randn({2, 2, 3, 3}),
               half = cast(image, DType::bf16);
  const Tensor heads = randn({1, 1, 4, 2}), units = randn({1, 2, 3}), square = randn({3, 3});
  const Tensor targets = zeros({3}, {.dtype = DType::i64});
  EXPECT_NE(refusal([&] { return convolution(wide(image), window); }), "");
  EXPECT_NE(refusal([&] { return convolution(half, wide(window)); }), "");
  EXPECT_NE(refusal([&] { return transposed_convolution(image, wide(window)); }), "");
  EXPECT_NE(refusal([&] { return attention(heads, wide(heads), wide(heads)); }), "");
  EXPECT_NE(refusal([&] { return linear_cross_entropy(wide(square), square, targets); }), "");
  EXPECT_NE(
      refusal([&] { return recurrent(RecurrentCell::rnn_tanh, units, wide(square), {}).output; }),
      "");
}

TEST(ProductDtypes, NarrowNoParameterThatIsAdded) {
  const Tensor x = randn({2, 3}), square = randn({3, 3}), bias = wide(randn({3}));
  EXPECT_EQ(
      refusal([&] { return linear(x, square, bias); }),
      "linear: wrong dtype of bias; got f64 beside f32, expected f32, as cast(bias, DType::f32) "
      "makes it");
  const Tensor image = randn({2, 3, 4, 4}), window = randn({3, 3, 3, 3});
  const Tensor units = randn({1, 2, 3}), heads = randn({1, 1, 4, 2});
  EXPECT_NE(refusal([&] { return convolution(image, window, bias); }), "");
  EXPECT_NE(refusal([&] { return transposed_convolution(image, window, bias); }), "");
  EXPECT_NE(
      refusal([&] { return recurrent(RecurrentCell::rnn_tanh, units, square, bias, {}).output; }),
      "");
  EXPECT_NE(refusal([&] { return layer_norm(x, bias); }), "");
  EXPECT_NE(refusal([&] { return rms_norm(cast(x, DType::bf16), bias); }), "");
  EXPECT_NE(refusal([&] { return group_norm(image, 3, bias); }), "");
  EXPECT_NE(refusal([&] { return batch_norm(image, bias).y; }), "");
  EXPECT_NE(refusal([&] { return attention(heads, heads, heads, {}, wide(zeros({4, 4}))); }), "");
  EXPECT_EQ(layer_norm(wide(x), bias).dtype(), DType::f64);
}

TEST(ProductDtypes, OfNarrowFloatsGoTogether) {
  const Tensor x = randn({2, 3}), weight = randn({4, 3});
  EXPECT_EQ(linear(cast(x, DType::bf16), weight).dtype(), DType::f32);
  const AutocastScope autocast(DType::bf16);
  EXPECT_EQ(linear(x, weight).dtype(), DType::bf16);
  EXPECT_EQ(linear(wide(x), wide(weight)).dtype(), DType::f64);
}

TEST(ProductDtypes, ElementwiseOpsPromote) {
  const Tensor x = randn({2, 3});
  EXPECT_EQ((x + wide(x)).dtype(), DType::f64);
}

}  // namespace
}  // namespace tessera
