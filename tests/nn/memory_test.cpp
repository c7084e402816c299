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

/// Expects `change` to allocate for parameters and for nothing else.
void expect_parameters(const std::string& name, std::size_t bytes, const auto& change) {
  const MemoryStats before = memory_stats();
  [[maybe_unused]] const auto kept = change();
  const auto added = [&](MemoryCategory category) {
    return static_cast<std::ptrdiff_t>(memory_stats()[category]) -
           static_cast<std::ptrdiff_t>(before[category]);
  };
  EXPECT_GE(added(MemoryCategory::parameter), static_cast<std::ptrdiff_t>(bytes)) << name;
  EXPECT_LT(added(MemoryCategory::activation), 4096) << name;
  EXPECT_LT(added(MemoryCategory::other), 4096) << name;
}

TEST(Memory, OfWhatModulesHoldIsOfParametersHoweverItCameThere) {
  constexpr std::int64_t kWidth = 256;
  constexpr std::size_t kSquare = kWidth * kWidth * sizeof(float);
  const auto linear = [&] { return nn::make<nn::Linear>(kWidth, kWidth); };
  const auto model = linear();
  expect_parameters("clone", kSquare, [&] { return model->clone(); });
  expect_parameters("cast", kSquare, [&] { return model->to_double(), 0; });
  const auto empty = linear();
  expect_parameters("to_empty", 0, [&] { return empty->to_empty({}), 0; });
  nn::StateDict state;
  for (const auto& [name, value] : model->state_dict()) {
    state.set(name, value);
  }
  expect_parameters("first load", kSquare, [&] {
    auto lazy = nn::make<nn::Linear>(nn::kInferred, kWidth);
    lazy->load_state_dict(state);
    return lazy;
  });
  const auto bytes = nn::serialize(*linear());
  expect_parameters("deserialize", kSquare, [&] { return nn::deserialize(bytes); });
  const auto norm = nn::make<nn::BatchNorm1d>(1 << 16);
  const Tensor x = randn({2, 1 << 16});
  expect_parameters("running statistics", 0, [&] { return static_cast<void>((*norm)(x)), 0; });
}

TEST(Memory, OfAGradientThatIsCastWithItsParameterIsOfGradients) {
  const auto model = nn::make<nn::Linear>(256, 256);
  sum((*model)(ones({1, 256}))).backward();
  const MemoryStats before = memory_stats();
  model->to_double();
  EXPECT_GE(grown(before, MemoryCategory::parameter), 256U * 256 * sizeof(float));
  EXPECT_GE(grown(before, MemoryCategory::gradient), 256U * 256 * sizeof(float));
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
