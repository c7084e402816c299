// Errors about the gradient of a parameter say whose it is.
#include <gtest/gtest.h>

#include <tessera/core/autograd/hooks.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/sum.h>
#include <tessera/nn/functional/pure.h>
#include <tessera/nn/tree/module.h>

#include "nn/contract/models.h"
#include "support/error_of.h"

namespace tessera::nn::contract {
namespace {

using testing_support::error_of;

Tensor factor_of(const Ptr<Outer>& model) {
  return model->inner->scale->factor.value();
}

TEST(GradientNames, a_hook_that_returns_another_shape_is_told_its_parameter) {
  const auto model = make<Outer>();
  const auto told = [&](const GradientHook& hook) {
    const ScopedHandle handle = register_gradient_hook(factor_of(model), hook);
    return error_of<InvalidArgument>([&] { sum(model(ones({3}))).backward(); });
  };
  EXPECT_EQ(told([](const Tensor&) { return ones({5}); }),
            "gradient hook on \"inner.scale.factor\": wrong shape; got (5,), expected (3,)");
  EXPECT_EQ(told([](const Tensor& gradient) { return cast(gradient, DType::f64); }),
            "gradient hook on \"inner.scale.factor\": wrong dtype; got f64, expected f32");
  model->to(DType::f64);
  EXPECT_EQ(told([](const Tensor& gradient) { return cast(gradient, DType::f32); }),
            "gradient hook on \"inner.scale.factor\": wrong dtype; got f32, expected f64");
}

TEST(GradientNames, a_parameter_trained_later_and_a_copy_are_named_too) {
  const auto model = make<Outer>();
  model->requires_grad_(false);
  model->inner->requires_grad_(true);
  const auto copy = clone(model);
  for (const Tensor& factor : {factor_of(model), factor_of(copy)}) {
    EXPECT_EQ(error_of<InvalidArgument>([&] { factor.set_grad(ones({5})); }),
              "set_grad of \"inner.scale.factor\": wrong shape; got (5,), expected (3,)");
  }
  EXPECT_EQ(error_of<InvalidArgument>([] { ones({3}).set_grad(ones({5})); }),
            "set_grad: wrong shape; got (5,), expected (3,)");
}

TEST(GradientNames, a_gradient_that_exists_once_a_microbatch_is_said_to) {
  const Tensor samples = as_microbatches(ones({8, 3}), 4, 0);
  const std::string of_all = " which holds 4 microbatches, expected (3,) for all of them together";
  EXPECT_EQ(error_of<InvalidArgument>([&] { ones({3}).set_grad(mean(samples, {0})); }),
            "set_grad: wrong shape; got (4, 3)," + of_all);
  EXPECT_EQ(error_of<InvalidArgument>([&] { ones({3}).set_grad(samples); }),
            "set_grad: wrong shape; got (8, 3)," + of_all);
  EXPECT_THROW(ones({4, 3}).set_grad(mean(samples, {0})), InvalidArgument);
}

}  // namespace
}  // namespace tessera::nn::contract
