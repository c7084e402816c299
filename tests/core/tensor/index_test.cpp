#include <tessera/core/tensor/index.h>

#include <gtest/gtest.h>

#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {
namespace {

using Values = std::vector<double>;

Tensor matrix() {
  return reshape(arange(12, {.dtype = DType::f64}), {3, 4});
}
Tensor list(std::initializer_list<std::int64_t> positions) {
  return tensor(positions);
}

TEST(Index, numbers_and_ranges_give_views) {
  const Tensor x = matrix();
  const Tensor y = index(x, {1, Range{1, 4, 2}});
  EXPECT_EQ(y.to_vector<double>(), (Values{5, 7}));
  EXPECT_TRUE(y.shares_storage(x));
  EXPECT_EQ(index(x, {kRest, -1}).to_vector<double>(), (Values{3, 7, 11}));
  EXPECT_EQ(index(x, {kNewDim, 0}).shape(), (Shape{1, 4}));
}

TEST(Index, lists_pick_in_their_order) {
  EXPECT_EQ(index(matrix(), {list({2, 0})}).shape(), (Shape{2, 4}));
  EXPECT_EQ(index(matrix(), {Range{}, list({-1, 0})}).to_vector<double>(),
            (Values{3, 0, 7, 4, 11, 8}));
  EXPECT_EQ(index(matrix(), {list({0, 2}), list({1, 3})}).to_vector<double>(), (Values{1, 11}));
}

TEST(Index, masks_pick_where_they_hold) {
  const Tensor x = matrix();
  EXPECT_EQ(index(x, {x > 8}).to_vector<double>(), (Values{9, 10, 11}));
  EXPECT_EQ(index(x, {tensor({true, false, true}), 0}).to_vector<double>(), (Values{0, 8}));
}

TEST(Index, gradients_add_up_where_positions_repeat) {
  const Tensor x = matrix().set_requires_grad(true);
  sum(index(x, {list({1, 1}), Range{0, 2}})).backward();
  EXPECT_EQ(sum(x.grad()).item(), 4);
  EXPECT_EQ(index(x.grad(), {1, 0}).item(), 2);
}

TEST(Assign, writes_through_views_lists_and_masks) {
  const Tensor x = matrix();
  assign(x, {0}, 5);
  assign(x, {Range{1, 3}, list({0, 3})}, tensor({-1.F, -2.F}));
  assign(x, {x > 9}, 0);
  EXPECT_EQ(x.to_vector<double>(), (Values{5, 5, 5, 5, -1, 5, 6, -2, -1, 9, 0, -2}));
}

TEST(Assign, goes_on_the_tape) {
  const Tensor w = ones({2}, {.dtype = DType::f64}).set_requires_grad(true);
  const Tensor x = matrix() * 1;
  assign(x, {1, list({0, 2})}, w * 3);
  sum(x * x).backward();
  EXPECT_EQ(w.grad().to_vector<double>(), (Values{18, 18}));
}

TEST(Index, rejects_what_does_not_fit) {
  EXPECT_THROW(static_cast<void>(index(matrix(), {0, 0, 0})), InvalidArgument);
  EXPECT_THROW(static_cast<void>(index(matrix(), {list({3})})), InvalidArgument);
  EXPECT_THROW(static_cast<void>(index(matrix(), {tensor({true, false})})), InvalidArgument);
}

}  // namespace
}  // namespace tessera
