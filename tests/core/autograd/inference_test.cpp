// What is made under an InferenceGuard stays off the tape.
#include <gtest/gtest.h>

#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>

namespace tessera {
namespace {

struct Inference : testing::Test {
  Inference() {
    const InferenceGuard guard;
    created = ones({2});
    computed = x * 3.0;
  }
  Tensor x = ones({2}).set_requires_grad(true);
  Tensor created;
  Tensor computed;
};

TEST_F(Inference, makes_tensors_that_require_no_gradient) {
  EXPECT_FALSE(computed.requires_grad());
  EXPECT_TRUE(computed.is_leaf());
  EXPECT_THROW(sum_to(computed, {}).backward(), InvalidArgument);
}

TEST_F(Inference, makes_tensors_that_cannot_require_one_afterwards) {
  for (const Tensor& made : {created, computed, created.detach(), select(created, 0, 1)}) {
    EXPECT_THROW(Tensor(made).set_requires_grad(true), InvalidArgument);
    EXPECT_FALSE(made.requires_grad());
    EXPECT_NO_THROW(Tensor(made).set_requires_grad(false));
  }
}

TEST_F(Inference, leaves_a_way_out_by_a_copy) {
  const Tensor copy = clone(computed).set_requires_grad(true);
  sum_to(copy * copy, {}).backward();
  EXPECT_EQ(copy.grad().to_vector<float>(), (std::vector<float>{6, 6}));
}

TEST_F(Inference, makes_constants_for_ops_that_are_recorded) {
  sum_to(x * computed, {}).backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{3, 3}));
}

TEST_F(Inference, notices_writes_to_what_the_tape_has_saved) {
  const Tensor loss = sum_to(x * computed, {});
  add_(computed, ones({2}));
  EXPECT_THROW(loss.backward(), InvalidArgument);
}

TEST_F(Inference, makes_tensors_that_take_writes_only_off_the_tape) {
  for (const Tensor& made : {created, select(created, 0, 1)}) {
    EXPECT_THROW(add_(made, sum_to(x, {})), RuntimeError);
    EXPECT_NO_THROW(add_(made, ones({})));
    const NoGradGuard off_the_tape;
    EXPECT_NO_THROW(add_(made, sum_to(x, {})));
  }
}

TEST_F(Inference, may_write_to_ordinary_tensors) {
  const Tensor buffer = ones({2});
  {
    const InferenceGuard guard;
    add_(buffer, x);
  }
  EXPECT_EQ(Tensor(buffer).set_requires_grad(true).to_vector<float>(), (std::vector<float>{2, 2}));
}

TEST_F(Inference, makes_leaves_where_it_is_told_to) {
  Tensor weight;
  {
    const InferenceGuard guard;
    weight = ones({2}).set_requires_grad(true);
  }
  sum_to(weight * 2.0, {}).backward();
  EXPECT_EQ(weight.grad().to_vector<float>(), (std::vector<float>{2, 2}));
}

TEST_F(Inference, records_nothing_even_for_enabled_gradients) {
  const InferenceGuard guard;
  const EnableGradGuard on;
  const Tensor y = x * 2.0;
  EXPECT_FALSE(y.requires_grad());
}

}  // namespace
}  // namespace tessera
