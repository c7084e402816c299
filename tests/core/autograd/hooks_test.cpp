// Hooks on the gradients of single tensors.
#include <gtest/gtest.h>

#include <optional>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/autograd/hooks.h>
#include <tessera/core/base/context.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/embedding.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {
namespace {

/// loss = sum(5 (2 x)), of which `middle` is 2 x. Runs backward or grad with respect to x.
struct Chain {
  Tensor x = ones({2}).set_requires_grad(true);
  Tensor middle = x * 2.0;

  [[nodiscard]] float gradient(bool by_grad) const {
    const Tensor loss = sum_to(middle * 5.0, {});
    if (by_grad) {
      return grad(std::array{loss}, std::array{x})[0].to_vector<float>()[0];
    }
    loss.backward();
    return x.grad().to_vector<float>()[0];
  }
};

GradientHook times(double factor) {
  return [factor](const Tensor& gradient) { return gradient * factor; };
}

/// Backward and grad run hooks on tensors alike.
struct TensorHooks : testing::TestWithParam<bool> {
  Chain chain;
};
INSTANTIATE_TEST_SUITE_P(by_grad, TensorHooks, testing::Bool());

TEST_P(TensorHooks, see_the_gradients_of_leaves_and_of_computed_tensors) {
  float at_middle = 0;
  float at_leaf = 0;
  const auto note = [](float& to) {
    return [&to](const Tensor& gradient) {
      to = gradient.to_vector<float>()[0];
      return Tensor();
    };
  };
  register_gradient_hook(chain.middle, note(at_middle));
  register_gradient_hook(chain.x, note(at_leaf));
  EXPECT_EQ(chain.gradient(GetParam()), 10);
  EXPECT_EQ(at_middle, 5);
  EXPECT_EQ(at_leaf, 10);
}

TEST_P(TensorHooks, replace_the_gradient_that_goes_on) {
  register_gradient_hook(chain.middle, times(3));
  EXPECT_EQ(chain.gradient(GetParam()), 30);
}

TEST_P(TensorHooks, on_a_leaf_replace_the_result) {
  register_gradient_hook(chain.x, times(3));
  EXPECT_EQ(chain.gradient(GetParam()), 30);
}

TEST_P(TensorHooks, run_in_the_order_of_registration_each_on_what_the_last_one_left) {
  for (const Tensor& at : {chain.middle, chain.x}) {
    register_gradient_hook(at, [](const Tensor& gradient) { return gradient + 1.0; });
    register_gradient_hook(at, times(2));
  }
  EXPECT_EQ(chain.gradient(GetParam()), 2 * (2 * 2 * (5 + 1) + 1));
}

TEST_P(TensorHooks, that_were_removed_do_not_run) {
  RemovableHandle at_middle = register_gradient_hook(chain.middle, times(3));
  RemovableHandle at_leaf = register_gradient_hook(chain.x, times(3));
  register_gradient_hook(chain.x, times(7));
  at_middle.remove();
  at_leaf.remove();
  EXPECT_EQ(chain.gradient(GetParam()), 70);
}

TEST_P(TensorHooks, must_keep_the_shape) {
  register_gradient_hook(chain.middle, [](const Tensor&) { return ones({3}); });
  EXPECT_THROW(static_cast<void>(chain.gradient(GetParam())), InvalidArgument);
}

TEST_P(TensorHooks, on_an_embeddings_table_see_the_whole_gradient) {
  const Tensor table = ones({3, 1}).set_requires_grad(true);
  register_gradient_hook(table, times(2));
  const Tensor loss = sum_to(embedding(table, tensor<std::int64_t>({1, 1})), {});
  if (GetParam()) {
    EXPECT_EQ(grad(std::array{loss}, std::array{table})[0].to_vector<float>(),
              (std::vector<float>{0, 4, 0}));
  } else {
    loss.backward();
    EXPECT_EQ(table.grad().to_vector<float>(), (std::vector<float>{0, 4, 0}));
  }
}

TEST(TensorHook, sees_the_sum_over_all_uses_once) {
  const Tensor x = ones({1}).set_requires_grad(true);
  const Tensor shared = x * 1.0;
  int runs = 0;
  register_gradient_hook(shared, [&](const Tensor& gradient) {
    ++runs;
    EXPECT_EQ(gradient.item(), 5);
    return Tensor();
  });
  sum_to(shared * 2.0 + shared * 3.0, {}).backward();
  EXPECT_EQ(runs, 1);
}

TEST(TensorHook, of_a_leaf_that_grad_is_not_asked_for_does_not_run) {
  const Tensor x = ones({1}).set_requires_grad(true);
  const Tensor other = ones({1}).set_requires_grad(true);
  register_gradient_hook(other, [](const Tensor&) -> Tensor { fail<RuntimeError>("it ran"); });
  EXPECT_EQ(grad(std::array{sum_to(x * other, {})}, std::array{x})[0].item(), 1);
}

TEST(TensorHook, needs_a_tensor_that_requires_a_gradient) {
  EXPECT_THROW(register_gradient_hook(ones({1}), times(1)), InvalidArgument);
  EXPECT_THROW(register_op_hook(ones({1}).set_requires_grad(true), {}), InvalidArgument);
}

TEST(OpHook, replaces_the_gradients_of_the_ops_inputs) {
  const Chain chain;
  register_op_hook(chain.middle, [](const std::vector<Tensor>& inputs, const auto& outputs) {
    EXPECT_EQ(outputs[0].template to_vector<float>()[0], 5);
    return std::vector<Tensor>{inputs[0] * 3.0, {}};
  });
  EXPECT_EQ(chain.gradient(false), 30);
}

TEST(OpHook, sees_each_microbatch_alone) {
  const ContextScope scope(std::make_shared<Context>());
  Context::current().pass = {
      .grain = 2, .first = 0, .count = 2, .first_sample = 0, .samples = 4, .last = true};
  const Tensor x = ones({4, 3});
  x.get().set_microbatches({.count = 2, .dim = 0});
  const Tensor w = ones({3}).set_requires_grad(true);
  const Tensor y = x * w;
  std::vector<double> seen;
  register_op_hook(y, [&](const auto&, const auto& outputs) {
    seen = sum_to(outputs[0], {}).template to_vector<double>();
    return std::nullopt;
  });
  sum_to(y, {}).backward();
  EXPECT_EQ(seen, (std::vector<double>{3, 3}));  // 1/2 a microbatch, of 6 elements
}

TEST(OpHooks, give_gradients_of_the_dtype_that_they_got) {
  const Tensor x = ones({2}).set_requires_grad(true);
  const Tensor y = x * 2.0;
  register_op_hook(y, [](std::vector<Tensor> inputs, const auto&) {
    for (Tensor& g : inputs) {
      g = g.defined() ? cast(g, DType::f64) : g;
    }
    return std::optional(inputs);
  });
  EXPECT_THROW(y.backward(ones({2})), InvalidArgument);
}

}  // namespace
}  // namespace tessera
