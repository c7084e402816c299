
#include <array>

#include <tessera/core/autograd/checkpoint.h>
#include <tessera/core/base/error.h>

#include <gtest/gtest.h>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/module_path.h>
#include <tessera/core/dispatch/autocast.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/dropout.h>
#include <tessera/core/ops/linear.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>

namespace tessera {
namespace {

class Checkpoint : public ::testing::Test {
 protected:
  /// A block with dropout, run under its own path.
  Tensor block(const Tensor& x) {
    const ModulePathScope path("block");
    ++runs_;
    recomputing_ += is_recomputing() ? 1 : 0;
    const Tensor h = dropout(linear(x, weight_), 0.3);
    return linear(h * h, weight_) + x;
  }

  /// Gradients of the weight and of x after three blocks.
  std::vector<float> gradients(bool checkpointed) {
    const ContextScope context(std::make_shared<Context>());
    Tensor x = x_.detach().set_requires_grad(true);
    weight_ = weight_.detach().set_requires_grad(true);
    Tensor h = x * 1.0;
    for (int i = 0; i < 3; ++i) {
      h = checkpointed ? checkpoint([this](const Tensor& t) { return block(t); }, h) : block(h);
    }
    sum_to(h * h, {}).backward();
    std::vector<float> all = weight_.grad().to_vector<float>();
    const std::vector<float> of_x = x.grad().to_vector<float>();
    all.insert(all.end(), of_x.begin(), of_x.end());
    return all;
  }

  int runs_ = 0;
  int recomputing_ = 0;
  Tensor weight_ = randn({8, 8});
  Tensor x_ = randn({4, 8});
};

TEST_F(Checkpoint, gives_the_same_bits) {
  const std::vector<float> plain = gradients(false);
  EXPECT_EQ(runs_, 3);
  EXPECT_EQ(gradients(true), plain);
  EXPECT_EQ(runs_, 9);
  EXPECT_EQ(recomputing_, 3);
}

TEST_F(Checkpoint, gives_the_same_bits_under_autocast) {
  const AutocastScope autocast(DType::bf16);
  EXPECT_EQ(gradients(true), gradients(false));
}

TEST_F(Checkpoint, may_be_nested) {
  const auto run = [&](bool checkpointed) {
    const ContextScope context(std::make_shared<Context>());
    Tensor x = x_.detach().set_requires_grad(true);
    const auto inner = [this](const Tensor& t) { return block(t); };
    const auto outer = [&](const Tensor& t) {
      const Tensor h = t * t;
      return checkpointed ? checkpoint(inner, checkpoint(inner, h)) : inner(inner(h));
    };
    const Tensor y = checkpointed ? checkpoint(outer, x) : outer(x);
    sum_to(y, {}).backward();
    return x.grad().to_vector<float>();
  };
  EXPECT_EQ(run(true), run(false));
}

TEST_F(Checkpoint, keeps_no_activations) {
  const auto holders = [&](bool checkpointed) {
    const Tensor x = x_.detach().set_requires_grad(true);
    Ref<Storage> middle;
    const auto square = [&](const Tensor& t) {
      const Tensor h = t * t;
      middle = h.impl()->storage;
      return h * h;
    };
    const Tensor y = checkpointed ? checkpoint(square, x) : square(x);
    return middle->use_count();
  };
  EXPECT_GT(holders(false), 1U);
  EXPECT_EQ(holders(true), 1U);
}

TEST_F(Checkpoint, runs_again_for_a_second_backward) {
  const Tensor x = x_.detach().set_requires_grad(true);
  const Tensor y = sum_to(checkpoint([this](const Tensor& t) { return block(t); }, x), {});
  const auto first = grad(std::array{y}, std::array{x}, {}, {.keep_graph = true})[0];
  const auto second = grad(std::array{y}, std::array{x})[0];
  EXPECT_EQ(first.to_vector<float>(), second.to_vector<float>());
}

TEST_F(Checkpoint, notices_an_input_changed_in_place) {
  const Tensor x = x_.detach().set_requires_grad(true);
  const Tensor h = x * 1.0;
  const Tensor y = checkpoint([](const Tensor& t) { return t * 2.0 * (t * 3.0); }, h);
  add_(h, ones({8}));
  EXPECT_THROW(sum_to(y, {}).backward(), InvalidArgument);
}

TEST_F(Checkpoint, notices_a_second_run_that_differs) {
  int runs = 0;
  const Tensor x = x_.detach().set_requires_grad(true);
  const auto changing = [&](const Tensor& t) {
    return sum_to(++runs == 1 ? t * 2.0 * (t * 3.0) : t * 2.0, {});
  };
  const Tensor y = checkpoint(changing, x);
  EXPECT_THROW(y.backward(), InvalidArgument);
}

TEST_F(Checkpoint, draws_with_the_seed_of_the_first_run) {
  const auto gradient = [this](bool seeded_anew) {
    const ContextScope context(std::make_shared<Context>());
    const Tensor x = x_.detach().set_requires_grad(true);
    const Tensor y = sum_to(checkpoint([this](const Tensor& t) { return block(t); }, x), {});
    if (seeded_anew) {
      set_seed(99);
    }
    y.backward();
    EXPECT_EQ(Context::current().seed, seeded_anew ? 99U : 0U);
    return x.grad().to_vector<float>();
  };
  EXPECT_EQ(gradient(true), gradient(false));
}

TEST_F(Checkpoint, draws_the_same_random_tensors) {
  const Tensor x = ones({4}).set_requires_grad(true);
  Tensor noise;
  const auto noisy = [&](const Tensor& t) {
    noise = randn({4});
    return t * noise * t;
  };
  const Tensor y = checkpoint(noisy, x * 1.0);
  const Tensor first = noise;
  const Tensor between = randn({4});
  sum_to(y, {}).backward();
  EXPECT_EQ(noise.to_vector<float>(), first.to_vector<float>());
  EXPECT_EQ(x.grad().to_vector<float>(), (first * 2.0).to_vector<float>());
  EXPECT_NE(randn({4}).to_vector<float>(), between.to_vector<float>());
}

TEST(CheckpointOf, what_a_region_changes_in_place_is_refused_as_without_it) {
  const auto changed = [](const Tensor& x) {
    const Tensor y = x * 2.0;
    const Tensor z = y * y;
    add_(y, 1.0);
    return z + y;
  };
  const Tensor x = full({3}, 3.0).set_requires_grad(true);
  EXPECT_THROW(sum_to(changed(x), {}).backward(), InvalidArgument);
  EXPECT_THROW(sum_to(checkpoint(changed, x), {}).backward(), InvalidArgument);
}

}  // namespace
}  // namespace tessera
