// A backward that throws leaves no trace.
#include <gtest/gtest.h>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/autograd/hooks.h>
#include <tessera/core/base/context.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/embedding.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {
namespace {

using Floats = std::vector<float>;

/// Passes `x` on; its gradient throws when `fails`.
Tensor pass_on(const Tensor& x, bool fails) {
  Tensor y = x * 1.0;
  register_gradient_hook(y, [fails](const Tensor&) -> Tensor {
    check<RuntimeError>(!fails, "the hook fails");
    return {};
  });
  return y;
}

/// Uses `x` twice; where it fails, one use's gradient is there already.
Tensor two_uses(const Tensor& x, bool fails) {
  const Tensor early = pass_on(x * 2.0, fails);
  return sum_to(early + x * 3.0, {});
}

TEST(FailedBackward, leaves_no_part_of_a_sum_behind) {
  const Tensor x = ones({2}).set_requires_grad(true);
  EXPECT_THROW(two_uses(x, true).backward(), RuntimeError);
  EXPECT_FALSE(x.grad().defined());
  two_uses(x, false).backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (Floats{5, 5}));
}

TEST(FailedBackward, leaves_no_rows_behind) {
  const Tensor x = ones({2, 1}).set_requires_grad(true);
  const Tensor ids = zeros({1}, {.dtype = DType::i64});
  const auto loss = [&](bool fails) {
    const Tensor dense = sum_to(pass_on(x * 2.0, fails), {});
    return dense + sum_to(embedding(x, ids), {});  // whose gradient comes first
  };
  EXPECT_THROW(loss(true).backward(), RuntimeError);
  loss(false).backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (Floats{3, 2}));
}

TEST(FailedBackward, gives_back_the_gradients_from_before) {
  const Tensor first = ones({1}).set_requires_grad(true);
  const Tensor kept = ones({1}).set_requires_grad(true);
  const Tensor fresh = ones({1}).set_requires_grad(true);
  sum_to(kept * 7.0, {}).backward();
  EXPECT_THROW((pass_on(first, true) * kept * fresh).backward(), RuntimeError);
  EXPECT_EQ(kept.grad().item(), 7);
  EXPECT_FALSE(fresh.grad().defined());
}

TEST(FailedBackward, of_grad_leaves_nothing_for_the_next_backward) {
  const Tensor x = ones({2}).set_requires_grad(true);
  EXPECT_THROW(static_cast<void>(grad(std::array{two_uses(x, true)}, std::array{x})), RuntimeError);
  two_uses(x, false).backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (Floats{5, 5}));
}

/// A step of two microbatches, one a pass.
struct TwoPasses : testing::Test {
  void run(std::int64_t pass, double weight, bool fails = false) {
    Context::current().pass = {.grain = 2,
                               .first = pass,
                               .count = 1,
                               .first_sample = pass,
                               .samples = 1,
                               .last = pass == 1};
    sum_to(pass_on(x, fails) * weight, {}).backward();
  }
  ContextScope context{std::make_shared<Context>()};
  Tensor x = ones({1}).set_requires_grad(true);
};

TEST_F(TwoPasses, begin_anew_after_a_failed_one) {
  run(0, 2);
  EXPECT_THROW(run(1, 4, true), RuntimeError);
  run(0, 8);
  run(1, 16);
  EXPECT_EQ(x.grad().item(), 12);
}

TEST_F(TwoPasses, begin_anew_after_the_first_one_failed_again) {
  run(0, 2);
  EXPECT_THROW(run(1, 4, true), RuntimeError);
  EXPECT_THROW(run(0, 8, true), RuntimeError);
  run(0, 8);
  run(1, 16);
  EXPECT_EQ(x.grad().item(), 12);
}

TEST_F(TwoPasses, do_not_go_on_without_what_was_dropped) {
  run(0, 2);
  EXPECT_THROW(run(1, 4, true), RuntimeError);
  EXPECT_THROW(run(1, 4), RuntimeError);
  EXPECT_FALSE(x.grad().defined());
  ++Context::current().step;
  run(0, 8);
  run(1, 16);
  EXPECT_EQ(x.grad().item(), 12);
}

TEST_F(TwoPasses, go_on_after_a_first_one_that_was_repeated) {
  EXPECT_THROW(run(0, 2, true), RuntimeError);
  run(0, 8);
  run(1, 16);
  EXPECT_EQ(x.grad().item(), 12);
}

TEST_F(TwoPasses, of_a_step_that_was_left_are_forgotten_in_the_next) {
  run(0, 2);
  ++Context::current().step;
  run(0, 8);
  run(1, 16);
  EXPECT_EQ(x.grad().item(), 12);
}

}  // namespace
}  // namespace tessera
