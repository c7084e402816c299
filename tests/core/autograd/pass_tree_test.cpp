#include <tessera/core/autograd/pass_tree.h>

#include <cmath>
#include <map>
#include <optional>
#include <random>

#include <gtest/gtest.h>

#include <tessera/core/base/context.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/loss_counts.h>

namespace tessera {
namespace {

/// Sums of blocks of microbatches by the first of each; the size of a block beside its sum.
using Blocks = std::map<std::int64_t, std::pair<std::int64_t, float>>;

/// What [first, first + size) adds up to by the definition: its halves, of which some have nothing.
std::optional<float> sum_by_halves(const Blocks& blocks, std::int64_t first, std::int64_t size) {
  if (const auto found = blocks.find(first); found != blocks.end() && found->second.first == size) {
    return found->second.second;
  }
  if (size == 1) {
    return std::nullopt;
  }
  const auto left = sum_by_halves(blocks, first, size / 2);
  const auto right = sum_by_halves(blocks, first + size / 2, size / 2);
  return left && right ? *left + *right : left ? left : right;
}

/// Aligned blocks of which some are absent, with numbers whose sums depend on their order.
Blocks random_blocks(std::mt19937& random, std::int64_t grain) {
  Blocks blocks;
  for (std::int64_t first = 0; first < grain;) {
    std::int64_t size = 1;
    while (first % (2 * size) == 0 && first + 2 * size <= grain && random() % 3 == 0) {
      size *= 2;
    }
    if (random() % 2 == 0) {
      const float value = std::ldexp(1.0F + static_cast<float>(random() % 1000) / 999.0F,
                                     static_cast<int>(random() % 40) - 20);
      blocks[first] = {size, random() % 2 == 0 ? value : -value};
    }
    first += size;
  }
  return blocks;
}

TEST(PassTree, adds_in_the_order_of_the_tree_whatever_blocks_are_absent) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const std::int64_t grain = std::int64_t{1} << (random() % 6);
    const Blocks blocks = random_blocks(random, grain);
    PassTree tree;
    for (const auto& [first, block] : blocks) {
      tree.add(tensor<float>({block.second}), first, block.first);
    }
    const auto expected = sum_by_halves(blocks, 0, grain);
    const Tensor total = tree.take(grain).dense;
    ASSERT_EQ(total.defined(), expected.has_value());
    if (expected) {
      ASSERT_EQ(total.item<float>(), *expected) << "grain " << grain << ", round " << round;
    }
  }
}

TEST(PassTree, a_parameter_of_some_passes_gets_the_gradient_of_the_tree) {
  const Tensor always = ones({1}).set_requires_grad(true);
  const Tensor sometimes = ones({1}).set_requires_grad(true);
  const auto shared = std::make_shared<Context>();
  const ContextScope scope(shared);
  const std::map<std::int64_t, double> used{{0, 1}, {2, 0x1p-24}, {4, 0x1p-24}};
  for (std::int64_t m = 0; m < 8; ++m) {
    Context::current().pass = {
        .grain = 8, .first = m, .count = 1, .first_sample = m, .samples = 1, .last = m == 7};
    const Tensor x = ones({1});
    Tensor loss = mean(x * always);
    if (const auto at = used.find(m); at != used.end()) {
      loss = loss + mean(x * (8 * at->second) * sometimes);
    }
    loss.backward();
  }
  EXPECT_EQ(sometimes.grad().item<float>(), (1.0F + 0x1p-24F) + 0x1p-24F);
}

TEST(PassTree, passes_of_another_grain_in_one_step_are_an_error) {
  const auto context = std::make_shared<Context>();
  const ContextScope scope(context);
  const Tensor w = ones({4}).set_requires_grad(true);
  const auto run = [&](std::int64_t grain, std::int64_t first) {
    context->pass = {.grain = grain, .first = first, .last = false};
    const Tensor loss = mean(w);
    attach_counts(loss, "test", from_values<double>({2}, {}), 4);
    loss.backward();
  };
  run(2, 0);
  EXPECT_THROW(run(64, 40), RuntimeError);
}

}  // namespace
}  // namespace tessera
