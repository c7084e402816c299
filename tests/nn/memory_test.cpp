// What a training step's memory is counted under.
#include <gtest/gtest.h>

#include <tessera/core/device/memory_stats.h>
#include <tessera/tessera.h>

namespace tessera {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

std::size_t grown(const MemoryStats& before, MemoryCategory category) {
  return memory_stats()[category] - before[category];
}

TEST(Memory, OfATrainingStepIsCountedUnderItsPurpose) {
  constexpr std::int64_t kWidth = 512, kBatch = 512;
  constexpr std::size_t kSquare = kWidth * kWidth * sizeof(float);
  const Tensor samples = randn({kBatch, kWidth});
  const MemoryStats before = memory_stats();

  const auto model = nn::make<nn::Linear>(kWidth, kWidth);
  EXPECT_GE(grown(before, MemoryCategory::parameter), kSquare);
  optim::AdamW optimizer(model->parameters(), {.lr = 1e-3});
  const data::TensorDataset rows(samples);
  data::DataLoader loader{rows, {.batch_size = kBatch, .grain = 1}};
  for (auto& [x] : loader) {
    EXPECT_GE(grown(before, MemoryCategory::data), kSquare);
    const Tensor y = relu((*model)(x));
    EXPECT_GE(grown(before, MemoryCategory::activation), kSquare);
    EXPECT_EQ(grown(before, MemoryCategory::gradient), 0U);
    mean(y).backward();
    EXPECT_GE(grown(before, MemoryCategory::gradient), kSquare);
    optimizer.step();
    EXPECT_GE(grown(before, MemoryCategory::optimizer), 2 * kSquare);
  }
  EXPECT_LT(grown(before, MemoryCategory::other), kMiB / 4);
}

TEST(Memory, OfActivationsComputedAnewIsNoGradient) {
  const Tensor x = randn({256, 1024}).set_requires_grad(true);
  std::size_t activations = 0;
  const MemoryStats before = memory_stats();
  const Tensor y = checkpoint(
      [&](const Tensor& input) {
        const Tensor result = relu(input);
        activations = grown(before, MemoryCategory::activation);
        return result;
      },
      x);
  activations = 0;
  sum(y).backward();
  EXPECT_GE(activations, kMiB);
}

}  // namespace
}  // namespace tessera
