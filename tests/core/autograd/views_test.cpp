#include <tessera/core/autograd/views.h>

#include <gtest/gtest.h>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/autograd/hooks.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/copy.h>
#include <tessera/core/ops/expand.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>

namespace tessera {
namespace {

using Values = std::vector<double>;

Tensor leaf_of(std::initializer_list<double> values) {
  return tensor<double>(values).set_requires_grad(true);
}

TEST(ViewWrites, reach_the_base_and_its_gradient) {
  const Tensor x = leaf_of({1, 2, 3});
  const Tensor y = leaf_of({10});
  const Tensor base = x * 2;
  slice(base, 0, 1, 2).copy_(y * 3);
  EXPECT_EQ(base.to_vector<double>(), (Values{2, 30, 6}));
  sum(base * tensor<double>({1, 5, 7})).backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (Values{2, 0, 14}));
  EXPECT_EQ(y.grad().to_vector<double>(), (Values{15}));
}

TEST(ViewWrites, reach_a_base_that_needed_no_gradient) {
  const Tensor y = leaf_of({10});
  const Tensor base = zeros({3}, {.dtype = DType::f64});
  const Tensor part = slice(base, 0, 2);
  part.copy_(y);
  EXPECT_TRUE(base.requires_grad());
  sum(base * base).backward();
  EXPECT_EQ(y.grad().to_vector<double>(), (Values{20}));
}

TEST(ViewWrites, are_seen_by_other_views) {
  const Tensor x = leaf_of({1, 2, 3, 4});
  const Tensor base = x * 1;
  const Tensor matrix = reshape(base, {2, 2});
  const Tensor tail = slice(base, 0, 2);
  mul_(select(matrix, 0, 1), tensor<double>({10, 100}));
  sum(tail).backward();
  EXPECT_EQ(tail.to_vector<double>(), (Values{30, 400}));
  EXPECT_EQ(x.grad().to_vector<double>(), (Values{0, 0, 10, 100}));
}

TEST(ViewWrites, through_the_base_are_seen_by_views) {
  const Tensor x = leaf_of({1, 2});
  const Tensor base = x * 1;
  const Tensor part = slice(base, 0, 0, 1);
  mul_(base, 5);
  sum(part).backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (Values{5, 0}));
}

TEST(ViewWrites, one_after_another_add_up) {
  const Tensor x = leaf_of({1, 2, 3});
  const Tensor base = x * 1;
  for (std::int64_t i = 0; i < 3; ++i) {
    mul_(slice(base, 0, i), 2);
  }
  sum(base).backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (Values{2, 4, 8}));
}

TEST(ViewWrites, give_second_gradients) {
  const Tensor x = leaf_of({2, 3});
  const Tensor base = x * 1;
  mul_(slice(base, 0, 1), slice(x * x, 0, 1));
  const auto first = grad(std::array{sum(base)}, std::array{x}, {}, {.create_graph = true});
  EXPECT_EQ(first[0].to_vector<double>(), (Values{1, 27}));
  const auto second = grad(std::array{sum(first[0])}, std::array{x});
  EXPECT_EQ(second[0].to_vector<double>(), (Values{0, 18}));
}

// As in PyTorch: what was written to is a view of its base again, not what the base was made of.
TEST(ViewWrites, leave_the_view_behind_its_base) {
  const Tensor x = leaf_of({1, 2});
  const Tensor base = x * 1;
  const Tensor part = select(base, 0, 0);
  mul_(part, 3);
  const auto gradient = [](const Tensor& y, const Tensor& of) {
    return grad(std::array{y}, std::array{of}, {}, {.keep_graph = true})[0];
  };
  EXPECT_EQ(gradient(part * 5, base).to_vector<double>(), (Values{5, 0}));
  EXPECT_FALSE(gradient(sum(base), part).defined());
  EXPECT_EQ(gradient(sum(base) + part * 5, base).to_vector<double>(), (Values{6, 1}));
  EXPECT_EQ(gradient(sum(base) + part * 5, part).to_vector<double>(), (Values{5}));
  EXPECT_EQ(gradient(sum(base) + part * 5, x).to_vector<double>(), (Values{18, 1}));
}

TEST(ViewWrites, hooks_on_the_view_see_the_gradient_of_its_own_uses) {
  const Tensor x = leaf_of({1, 2});
  const Tensor base = x * 1;
  const Tensor part = select(base, 0, 0);
  mul_(part, 3);
  Values seen;
  const auto hook = register_gradient_hook(part, [&](const Tensor& g) {
    seen.push_back(g.item());
    return g * 100;
  });
  sum(base).backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (Values{3, 1}));
  EXPECT_EQ(seen, Values{});
}

TEST(InPlace, keeps_what_the_gradient_needs) {
  const Tensor x = leaf_of({3});
  const Tensor y = x * 1;
  mul_(y, y);
  sum(y).backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (Values{6}));
}

TEST(InPlace, of_a_leaf_or_its_view_is_an_error_unless_off_the_tape) {
  const Tensor x = leaf_of({1, 2});
  EXPECT_THROW(mul_(x, 2), RuntimeError);
  EXPECT_THROW(mul_(slice(x, 0, 1), 2), RuntimeError);
  const NoGradGuard off_the_tape;
  mul_(slice(x, 0, 1), 2);
  EXPECT_EQ(x.to_vector<double>(), (Values{1, 4}));
}

TEST(InPlace, into_elements_that_share_memory_is_an_error) {
  EXPECT_THROW(add_(expand(zeros({1}), {3}), 1), RuntimeError);
}

TEST(InPlace, of_an_untracked_view_is_an_error) {
  const Tensor base = leaf_of({1, 2}) * 1;
  const Tensor part = [&] {
    const NoGradGuard off_the_tape;
    return slice(base, 0, 1);
  }();
  EXPECT_THROW(part.copy_(leaf_of({1})), InvalidArgument);
}

// A write by a number: only what the view shows is on the tape.
TEST(InPlace, of_an_untracked_view_of_what_requires_a_gradient_is_an_error) {
  const Tensor x = leaf_of({1, 2});
  for (const Tensor& base : {x, x * 1, slice(x * 1, 0, 0)}) {
    const Tensor part = [&] {
      const NoGradGuard off_the_tape;
      return slice(base, 0, 1);
    }();
    EXPECT_THROW(mul_(part, 2), Error);
    EXPECT_THROW(mul_(slice(part, 0, 0), 2), Error);
    EXPECT_EQ(base.to_vector<double>(), (Values{1, 2}));
    const NoGradGuard off_the_tape;
    mul_(part, 1);
  }
}

TEST(InPlace, of_an_untracked_view_off_the_tape_is_allowed) {
  const Tensor plain = tensor<double>({1, 2});
  const Tensor detached = (leaf_of({1, 2}) * 1).detach();
  for (const Tensor& base : {plain, detached}) {
    const Tensor part = [&] {
      const NoGradGuard off_the_tape;
      return slice(base, 0, 1);
    }();
    mul_(part, 2);
    EXPECT_EQ(base.to_vector<double>(), (Values{1, 4}));
  }
}

TEST(InPlace, reads_overlapping_inputs_before_it_writes) {
  const Tensor x = tensor<double>({1, 2, 3, 4});
  slice(x, 0, 1).copy_(slice(x, 0, 0, 3));
  EXPECT_EQ(x.to_vector<double>(), (Values{1, 1, 2, 3}));
}

}  // namespace
}  // namespace tessera
