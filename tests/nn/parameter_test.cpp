// Parameters and buffers where tensors are wanted.
#include <gtest/gtest.h>

#include <sstream>
#include <type_traits>

#include <tessera/core/ops/add.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/init/constant.h>
#include <tessera/nn/module.h>

struct Pair : tessera::nn::Module {
  tessera::nn::Parameter a{this, "a", {2}, tessera::nn::init::constant(3)};
  tessera::nn::Buffer b{this, "b", tessera::ones({2})};
};

// Outside of Tessera's namespaces, as a user writes it.
TEST(Parameter, stands_in_arithmetic_and_print_as_its_tensor) {
  const auto pair = tessera::nn::make<Pair>();
  EXPECT_EQ(sum(2 * pair->a).item(), 12);
  EXPECT_EQ(sum(pair->a + pair->b).item(), 8);
  EXPECT_EQ(sum(pair->a * pair->a + 1).item(), 20);
  std::ostringstream printed;
  std::ostringstream expected;
  printed << pair->a << pair->b;
  expected << pair->a.value() << pair->b.value();
  EXPECT_EQ(printed.str(), expected.str());
}

TEST(Parameter, is_no_condition_and_neither_is_a_tensor) {
  EXPECT_FALSE((std::is_constructible_v<bool, tessera::Tensor>));
  EXPECT_FALSE((std::is_convertible_v<tessera::Tensor, bool>));
  EXPECT_FALSE((std::is_constructible_v<bool, tessera::nn::Parameter>));
  EXPECT_FALSE((std::is_constructible_v<bool, tessera::nn::Buffer>));
}
