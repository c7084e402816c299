#include <gtest/gtest.h>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/autograd/hooks.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/log.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/embedding.h>
#include <tessera/core/ops/expand.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>

#include "support/error_of.h"

namespace tessera {
namespace {

using testing_support::error_of;

Tensor leaf(std::initializer_list<float> values) {
  return tensor(values).set_requires_grad(true);
}

TEST(Backward, adds_the_gradients_of_all_uses) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = x * x + x * 3.0;
  sum_to(y, {}).backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{5, 7, 9}));
}

TEST(Backward, accumulates_over_calls) {
  const Tensor x = leaf({1, 2});
  sum_to(x * 2.0, {}).backward();
  sum_to(x * 3.0, {}).backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{5, 5}));
}

TEST(Backward, sums_over_broadcast_dims) {
  const Tensor x = leaf({1, 2});
  const Tensor w = full({3, 2}, 2.0);
  sum_to(x * w, {}).backward();
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{6, 6}));
}

TEST(Backward, adds_up_gradients_without_elements) {
  Tensor x = empty({4, 3}, {.device = {.type = DeviceType::meta}});
  x.set_requires_grad(true);
  const Tensor y = x * x;
  sum_to(y * y + x, {}).backward();
  EXPECT_EQ(x.grad().shape(), x.shape());
  EXPECT_EQ(x.grad().device().type, DeviceType::meta);
}

TEST(Backward, runs_newest_first_and_fires_leaf_hooks_once) {
  const Tensor first = leaf({1});
  const Tensor last = leaf({1});
  std::string order;
  const auto a = register_ready_hook(first, [&](LeafNode&) { order += "f"; });
  const auto b = register_ready_hook(last, [&](LeafNode&) { order += "l"; });
  sum_to((first * 2.0 + first) * last, {}).backward();
  EXPECT_EQ(order, "lf");
}

TEST(Backward, second_run_through_a_released_graph_is_an_error) {
  const Tensor x = leaf({1});
  const Tensor y = sum_to(x * x, {});
  y.backward();
  EXPECT_THROW(y.backward(), InvalidArgument);
}

TEST(Backward, detects_a_saved_tensor_changed_in_place) {
  const Tensor x = leaf({2});
  const Tensor y = x * 2.0;
  const Tensor z = sum_to(y * y, {});
  add_(y, tensor({1.F}));
  EXPECT_THROW(z.backward(), InvalidArgument);
}

TEST(Backward, releases_a_chain_of_200000_ops_without_recursion) {
  const Tensor x = leaf({1});
  Tensor y = x;
  for (int i = 0; i < 200'000; ++i) {
    y = y + x;
  }
  y = Tensor();
  SUCCEED();
}

TEST(Grad, gives_second_derivatives) {
  const Tensor x = leaf({3});
  const Tensor y = sum_to(x * x * x, {});
  const auto first = grad(std::array{y}, std::array{x}, {}, {.create_graph = true});
  const auto second = grad(std::array{sum_to(first[0], {})}, std::array{x});
  EXPECT_EQ(first[0].item(), 27);
  EXPECT_EQ(second[0].item(), 18);
  EXPECT_FALSE(x.grad().defined());
}

TEST(Grad, takes_no_seeds_or_one_for_each_output) {
  const Tensor x = leaf({3});
  const Tensor y = x * 2.0, z = x * 5.0;
  const auto with = [&](const std::vector<Tensor>& seeds) {
    return grad(std::array{y, z}, std::array{x}, seeds, {.keep_graph = true})[0].item();
  };
  EXPECT_EQ(with({}), 7);
  EXPECT_EQ(with({tensor({10.F}), tensor({1.F})}), 25);
  EXPECT_EQ(with({tensor({10.F}), Tensor()}), 25);
  for (const std::size_t count : {1, 3}) {
    EXPECT_EQ(error_of([&] { return with(std::vector<Tensor>(count)); }),
              "grad: wrong number of seeds; got " + std::to_string(count) + ", expected none or 2");
  }
}

TEST(Microbatches, gradients_do_not_depend_on_how_many_share_a_pass) {
  const Tensor w = leaf({0.1F, 0.2F, 0.3F});
  Tensor x = randn({4, 3});
  x.get().set_microbatches({.count = 4, .dim = 0});
  const Tensor loss = sum_to(x * w, {});
  EXPECT_EQ(loss.shape(), (Shape{4}));
  EXPECT_TRUE(loss.microbatches().per_microbatch);
  loss.backward(ones({4}));
  const auto rows = x.to_vector<float>();
  for (std::size_t j = 0; j < 3; ++j) {
    const float tree = (rows[j] + rows[3 + j]) + (rows[6 + j] + rows[9 + j]);
    EXPECT_EQ(w.grad().to_vector<float>()[j], tree);
  }
}

TEST(Microbatches, whose_gradients_are_kept_apart_are_said_once_with_their_bytes) {
  std::vector<std::string> lines;
  const LogSinkScope sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  const ContextScope rank(std::make_shared<Context>());
  const Tensor w = leaf({0.1F, 0.2F, 0.3F});
  Tensor x = randn({4, 3});
  x.get().set_microbatches({.count = 4, .dim = 0});
  sum_to(x * w, {}).backward(ones({4}));
  EXPECT_TRUE(lines.empty());
  for (int i = 0; i < 2; ++i) {
    sum_to(x * w * w, {}).backward(ones({4}));
  }
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("48 bytes in all"), std::string::npos) << lines[0];
}

TEST(Embedding, sparse_gradients_are_added_last) {
  const Tensor w = ones({3, 2}).set_requires_grad(true);
  const Tensor ids = tensor<std::int64_t>({2, 0, 2});
  sum_to(embedding(w, ids) * 2.0, {}).backward();
  EXPECT_EQ(w.grad().to_vector<float>(), (std::vector<float>{2, 2, 0, 0, 4, 4}));
}

TEST(Engine, takes_gradients_of_the_roots_dtype_or_another_floating_one) {
  const Tensor x = ones({3}).set_requires_grad(true);
  const Tensor y = x * 1.0;
  EXPECT_THROW(y.backward(ones({3}, {.dtype = DType::i64})), InvalidArgument);
  EXPECT_THROW(y.backward(ones({3}, {.dtype = DType::c64})), InvalidArgument);
  y.backward(full({3}, 2, {.dtype = DType::f64}));
  EXPECT_EQ(x.grad().dtype(), DType::f32);
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{2, 2, 2}));
}

}  // namespace
}  // namespace tessera
