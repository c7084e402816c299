// Products of tensors of several dtypes are refused, everything elementwise promotes: as in
// PyTorch.
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

#include "support/error_of.h"

namespace tessera {
namespace {

using testing_support::error_of;

Tensor wide(const Tensor& x) {
  return cast(x, DType::f64);
}

TEST(ProductDtypes, SayWhichFactorsDiffer) {
  const Tensor x = randn({2, 3}), weight = randn({4, 3});
  EXPECT_EQ(error_of<TypeError>([&] { return linear(wide(x), weight); }),
            "linear: x and weight have different dtypes; got f64 and f32, expected one: "
            "cast(weight, DType::f64) has that of x");
  EXPECT_EQ(error_of<TypeError>([&] { return matmul(x, wide(x), false, true); }),
            "matmul: a and b have different dtypes; got f32 and f64, expected one: "
            "cast(b, DType::f32) has that of a");
}

TEST(ProductDtypes, AreOneInAllProducts) {
  const Tensor image = randn({1, 2, 4, 4}), window = randn({2, 2, 3, 3}),
               half = cast(image, DType::bf16);
  const Tensor heads = randn({1, 1, 4, 2}), units = randn({1, 2, 3}), square = randn({3, 3});
  const Tensor targets = zeros({3}, {.dtype = DType::i64});
  EXPECT_NE(error_of<TypeError>([&] { return convolution(wide(image), window); }), "no error");
  EXPECT_NE(error_of<TypeError>([&] { return convolution(half, wide(window)); }), "no error");
  EXPECT_NE(error_of<TypeError>([&] { return transposed_convolution(image, wide(window)); }),
            "no error");
  EXPECT_NE(error_of<TypeError>([&] { return attention(heads, wide(heads), wide(heads)); }),
            "no error");
  EXPECT_NE(
      error_of<TypeError>([&] { return linear_cross_entropy(wide(square), square, targets); }),
      "no error");
  EXPECT_NE(error_of<TypeError>(
                [&] { return recurrent(RecurrentCell::rnn_tanh, units, wide(square), {}).output; }),
            "no error");
}

TEST(ProductDtypes, NarrowNoParameterThatIsAdded) {
  const Tensor x = randn({2, 3}), square = randn({3, 3}), bias = wide(randn({3}));
  EXPECT_EQ(
      error_of<TypeError>([&] { return linear(x, square, bias); }),
      "linear: wrong dtype of bias; got f64 beside f32, expected f32, as cast(bias, DType::f32) "
      "makes it");
  const Tensor image = randn({2, 3, 4, 4}), window = randn({3, 3, 3, 3});
  const Tensor units = randn({1, 2, 3}), heads = randn({1, 1, 4, 2});
  EXPECT_NE(error_of<TypeError>([&] { return convolution(image, window, bias); }), "no error");
  EXPECT_NE(error_of<TypeError>([&] { return transposed_convolution(image, window, bias); }),
            "no error");
  EXPECT_NE(error_of<TypeError>(
                [&] { return recurrent(RecurrentCell::rnn_tanh, units, square, bias, {}).output; }),
            "no error");
  EXPECT_NE(error_of<TypeError>([&] { return layer_norm(x, bias); }), "no error");
  EXPECT_NE(error_of<TypeError>([&] { return rms_norm(cast(x, DType::bf16), bias); }), "no error");
  EXPECT_NE(error_of<TypeError>([&] { return group_norm(image, 3, bias); }), "no error");
  EXPECT_NE(error_of<TypeError>([&] { return batch_norm(image, bias).y; }), "no error");
  EXPECT_NE(error_of<TypeError>([&] {
              return attention(heads, heads, heads, {}, wide(zeros({4, 4})));
            }),
            "no error");
  EXPECT_EQ(layer_norm(wide(x), bias).dtype(), DType::f64);
}

TEST(ProductDtypes, AreOneAmongNarrowFloatsAndIntegersToo) {
  const Tensor x = randn({2, 3}), weight = randn({4, 3});
  for (const DType dtype : {DType::bf16, DType::f16, DType::i64, DType::c64}) {
    EXPECT_NE(error_of<TypeError>([&] { return linear(cast(x, dtype), weight); }), "no error")
        << dtype;
    EXPECT_NE(error_of<TypeError>([&] { return matmul(x, cast(x, dtype), false, true); }),
              "no error")
        << dtype;
  }
}

TEST(ProductDtypes, OfNarrowFloatsGoTogetherInAutocast) {
  const Tensor x = randn({2, 3}), weight = randn({4, 3});
  const AutocastScope autocast(DType::bf16);
  EXPECT_EQ(linear(x, weight).dtype(), DType::bf16);
  EXPECT_EQ(linear(cast(x, DType::f16), weight).dtype(), DType::bf16);
  EXPECT_NE(error_of<TypeError>([&] { return linear(x, wide(weight)); }), "no error");
  EXPECT_EQ(linear(wide(x), wide(weight)).dtype(), DType::f64);
}

TEST(ProductDtypes, ElementwiseOpsPromote) {
  const Tensor x = randn({2, 3});
  EXPECT_EQ((x + wide(x)).dtype(), DType::f64);
}

}  // namespace
}  // namespace tessera
