// What a leaf hands to its sink, and when.
#include <gtest/gtest.h>

#include <tessera/core/autograd/hooks.h>
#include <tessera/core/autograd/leaf.h>
#include <tessera/core/autograd/meta.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/embedding.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {
namespace {

/// Notes what comes.
class NotingSink final : public GradientSink {
 public:
  Tensor destination(LeafNode&) override { return {}; }
  void take_dense(LeafNode&, Tensor dense) override {
    EXPECT_EQ(std::ssize(taken), completed);
    taken.push_back(dense.to_vector<float>());
  }
  void complete(LeafNode&, SparseGradient rows) override {
    ++completed;
    last = std::move(rows);
  }
  std::vector<std::vector<float>> taken;
  int completed = 0;
  SparseGradient last;
};

/// An embedding's table that is read whole, too, after the lookup: so its dense gradient comes
/// first.
struct Tied {
  Tied() { leaf_of(table).sink = sink; }
  [[nodiscard]] Tensor loss(bool rows_too = true) const {
    const Tensor ids = zeros({2}, {.dtype = DType::i64});
    const Tensor found = rows_too ? embedding(table, ids) : zeros({2, 1});
    return sum_to(found * 3.0, {}) + sum_to(table * 2.0, {});
  }
  Tensor table = ones({3, 1}).set_requires_grad(true);
  std::shared_ptr<NotingSink> sink = std::make_shared<NotingSink>();
};

const std::vector<std::vector<float>> kDense{{2, 2, 2}};

TEST(Leaf, hands_its_dense_part_over_once_before_rows_come) {
  const Tied tied;
  tied.loss().backward();
  EXPECT_EQ(tied.sink->taken, kDense);
  EXPECT_EQ(tied.sink->completed, 1);
  EXPECT_EQ(tied.sink->last.count(), 2);
}

TEST(Leaf, without_rows_to_come_is_complete_with_its_dense_part) {
  const Tied tied;
  tied.loss(false).backward();
  EXPECT_EQ(tied.sink->taken, kDense);
  EXPECT_EQ(tied.sink->completed, 1);
  EXPECT_FALSE(tied.sink->last.defined());
}

TEST(Leaf, leaves_hooks_to_the_sink_which_knows_when_the_sum_is_whole) {
  const Tied tied;
  int calls = 0;
  const ScopedHandle hook = register_gradient_hook(tied.table, [&](const Tensor& gradient) {
    ++calls;
    return gradient;
  });
  tied.loss().backward();
  EXPECT_EQ(tied.sink->taken.size(), 1U);
  EXPECT_EQ(calls, 0);
}

TEST(Leaf, hands_it_over_again_in_the_next_backward) {
  const Tied tied;
  tied.loss().backward();
  tied.loss().backward();
  EXPECT_EQ(tied.sink->taken.size(), 2U);
  EXPECT_EQ(tied.sink->completed, 2);
}

TEST(Leaf, without_elements_may_be_used_twice) {
  const Tensor x = zeros({0, 4}).set_requires_grad(true);
  sum(x + x * 2.0).backward();
  EXPECT_EQ(x.grad().shape(), (Shape{0, 4}));
}

TEST(Leaf, that_was_frozen_after_its_forward_gets_nothing) {
  Tensor x = ones({2}).set_requires_grad(true);
  const Tensor y = ones({2}).set_requires_grad(true);
  const Tensor loss = sum(x * y);
  x.set_requires_grad(false);
  loss.backward();
  EXPECT_FALSE(x.grad().defined());
  EXPECT_TRUE(y.grad().defined());
  x.set_requires_grad(true);
  sum(x * y).backward();
  EXPECT_TRUE(x.grad().defined());
}

}  // namespace
}  // namespace tessera
