// The random tensors of factories and their seed.
#include <gtest/gtest.h>

#include <thread>

#include <tessera/core/base/context.h>
#include <tessera/core/tensor/factories.h>

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

}  // namespace
}  // namespace tessera
