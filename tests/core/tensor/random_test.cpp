// The random tensors of factories and their seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <utility>

#include <tessera/core/base/context.h>
#include <tessera/core/tensor/elements.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/half_open.h>

namespace tessera {
namespace {

using Floats = std::vector<float>;

struct RandomTensors : testing::Test {
  static Floats draw() {
    Floats all = randn({3}).to_vector<float>();
    const Floats more = rand({3}).to_vector<float>();
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  ContextScope context{std::make_shared<Context>()};
};

TEST_F(RandomTensors, repeat_from_the_seed_on) {
  set_seed(1);
  const Floats first = draw();
  const Floats second = draw();
  EXPECT_NE(first, second);
  set_seed(1);
  EXPECT_EQ(draw(), first);
  EXPECT_EQ(draw(), second);
  set_seed(2);
  EXPECT_NE(draw(), first);
}

TEST_F(RandomTensors, belong_to_the_rank_whatever_thread_it_uses) {
  const Floats first = draw();
  const Floats second = draw();
  set_seed(Context::current().seed);
  EXPECT_EQ(draw(), first);
  Floats elsewhere;
  std::thread([&, shared = Context::current_shared()] {
    const ContextScope same_rank(shared);
    elsewhere = draw();
  }).join();
  EXPECT_EQ(elsewhere, second);
}

TEST_F(RandomTensors, of_another_rank_count_by_themselves) {
  const Floats first = draw();
  {
    const ContextScope other(std::make_shared<Context>());
    EXPECT_EQ(draw(), first);
  }
  EXPECT_NE(draw(), first);
}

/// In 16 bits the words nearest to 1 would round to it: one of 512 in bf16, one of 4096 in f16.
TEST_F(RandomTensors, are_below_one_in_every_dtype) {
  const std::pair<DType, double> largest[] = {
      {DType::bf16, 1 - 0x1p-8}, {DType::f16, 1 - 0x1p-11}, {DType::f32, 1}, {DType::f64, 1}};
  set_seed(3);
  const std::vector<double> wide = rand({100'000}).to_vector<double>();
  for (const auto& [dtype, most] : largest) {
    set_seed(3);
    const Tensor x = rand({100'000}, {.dtype = dtype});
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      const double rounded =
          dtype == DType::bf16
              ? static_cast<float>(BFloat16(static_cast<float>(wide[static_cast<std::size_t>(i)])))
          : dtype == DType::f16
              ? static_cast<float>(Float16(static_cast<float>(wide[static_cast<std::size_t>(i)])))
              : wide[static_cast<std::size_t>(i)];
      ASSERT_EQ(load_as<double>(x.get(), i), std::min(rounded, most)) << dtype;
    }
  }
}

TEST(LargestBelow, is_the_number_before_the_end) {
  EXPECT_EQ(largest_below(1, DType::bf16), 1 - 0x1p-8);
  EXPECT_EQ(largest_below(1, DType::f16), 1 - 0x1p-11);
  EXPECT_EQ(largest_below(1, DType::f32), 1 - 0x1p-24);
  EXPECT_EQ(largest_below(1, DType::f64), 1 - 0x1p-53);
  EXPECT_EQ(largest_below(-1, DType::bf16), -1 - 0x1p-7);
  EXPECT_EQ(largest_below(0, DType::f16), -0x1p-24);
  EXPECT_EQ(largest_below(1.001, DType::bf16), 1);  // between two numbers
  EXPECT_EQ(largest_below(0.999, DType::bf16), 1 - 0x1p-8);
}

}  // namespace
}  // namespace tessera
