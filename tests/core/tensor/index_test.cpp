#include <tessera/core/ops/index.h>

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

struct ZeroDimMask {
  std::initializer_list<Index> indices;
  Shape shape;
  Values values;
};

// As PyTorch gives them for x[...].
TEST(Index, by_a_mask_without_dims_gives_a_new_dim_of_size_1_or_0) {
  const Tensor x = reshape(arange(6, {.dtype = DType::f64}), {2, 3});
  const Tensor yes = scalar(true, {.dtype = DType::boolean});
  const Tensor no = scalar(false, {.dtype = DType::boolean});
  const Values all{0, 1, 2, 3, 4, 5};
  const ZeroDimMask cases[] = {
      {{yes}, {1, 2, 3}, all},
      {{no}, {0, 2, 3}, {}},
      {{Range{}, yes}, {2, 1, 3}, all},
      {{Range{}, no}, {2, 0, 3}, {}},
      {{kRest, yes}, {2, 3, 1}, all},
      {{kRest, no}, {2, 3, 0}, {}},
      {{yes, yes}, {1, 2, 3}, all},
      {{yes, no}, {0, 2, 3}, {}},
      {{yes, x > 2}, {3}, {3, 4, 5}},
      {{list({0, 1}), yes}, {2, 3}, all},
      {{Range{}, list({0, 2}), yes}, {2, 2}, {0, 2, 3, 5}},
      {{kNewDim, yes}, {1, 1, 2, 3}, all},
      {{yes, 0}, {1, 3}, {0, 1, 2}},
      {{0, no}, {0, 3}, {}},
      {{yes, Range{0, 1}}, {1, 1, 3}, {0, 1, 2}},
  };
  for (const ZeroDimMask& c : cases) {
    const Tensor y = index(x, c.indices);
    EXPECT_EQ(y.shape(), c.shape);
    EXPECT_EQ(y.to_vector<double>(), c.values) << c.shape;
    EXPECT_FALSE(y.shares_storage(x)) << c.shape;
  }
  EXPECT_THROW(static_cast<void>(index(x, {no, list({0, 1})})), InvalidArgument);
  EXPECT_EQ(index(scalar(5), {yes}).shape(), (Shape{1}));
  EXPECT_EQ(index(scalar(5), {no}).shape(), (Shape{0}));
}

TEST(Assign, by_a_mask_without_dims_writes_all_or_nothing) {
  for (const bool holds : {false, true}) {
    const Tensor x = tensor<double>({1, 2, 3});
    assign(x, {eq(sum(x), holds ? 6 : 100)}, 7);
    EXPECT_EQ(x.to_vector<double>(), holds ? (Values{7, 7, 7}) : (Values{1, 2, 3}));
    assign(x, {eq(sum(x), holds ? 21 : 100)}, tensor<double>({4, 5, 6}));
    EXPECT_EQ(x.to_vector<double>(), holds ? (Values{4, 5, 6}) : (Values{1, 2, 3}));
    const Tensor w = tensor<double>({1, 2, 3}).set_requires_grad(true);
    const Tensor y = w * 2;
    assign(y, {scalar(holds, {.dtype = DType::boolean})}, w * 10);
    sum(y).backward();
    EXPECT_EQ(w.grad().to_vector<double>(), holds ? (Values{10, 10, 10}) : (Values{2, 2, 2}));
  }
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
