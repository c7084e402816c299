// Parameters and buffers where tensors are wanted.
#include <gtest/gtest.h>

#include <sstream>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/functional/pure.h>
#include <tessera/nn/init/constant.h>
#include <tessera/nn/make.h>
#include <tessera/nn/module.h>

struct Pair : tessera::nn::Module {
  tessera::nn::Parameter a{this, "a", {2}, tessera::nn::init::constant(3)};
  tessera::nn::Buffer b{this, "b", tessera::ones({2})};
};

struct Two : tessera::nn::Module {
  tessera::nn::Parameter first{this, "first", {2}, tessera::nn::init::constant(3)};
  tessera::nn::Parameter second{this, "second", {2}, tessera::nn::init::constant(4)};
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

TEST(Parameter, prints_in_lists_as_tensors_do_in_those_of_python) {
  const auto two = tessera::nn::make<Two>();
  std::ostringstream printed;
  printed << two->parameters() << two->buffers();
  EXPECT_EQ(printed.str(),
            "[tensor([3., 3.], requires_grad=true), tensor([4., 4.], requires_grad=true)][]");
}

TEST(Parameter, is_no_condition_and_neither_is_a_tensor) {
  EXPECT_FALSE((std::is_constructible_v<bool, tessera::Tensor>));
  EXPECT_FALSE((std::is_convertible_v<tessera::Tensor, bool>));
  EXPECT_FALSE((std::is_constructible_v<bool, tessera::nn::Parameter>));
  EXPECT_FALSE((std::is_constructible_v<bool, tessera::nn::Buffer>));
}

// In the way of PyTorch, where it ties: here it would part the member from its name.
TEST(Parameter, of_a_member_is_assigned_no_other_name) {
  const auto a = tessera::nn::make<Two>();
  const auto b = tessera::nn::make<Two>();
  EXPECT_THROW(a->first = b->first, tessera::RuntimeError);
  EXPECT_THROW(a->first = b->get_parameter("first"), tessera::RuntimeError);
  EXPECT_THROW(a->first = std::move(b->second), tessera::RuntimeError);
  EXPECT_THROW(std::swap(a->first, b->first), tessera::RuntimeError);
  EXPECT_NO_THROW(a->first = a->get_parameter("first"));
  const auto copy = tessera::nn::clone(a);
  EXPECT_THROW(copy->first = a->first, tessera::RuntimeError);
  EXPECT_TRUE(a->first.defined() && b->first.defined() && b->second.defined());
}

TEST(Parameter, handles_are_values) {
  const auto a = tessera::nn::make<Two>();
  std::vector<tessera::nn::Parameter> all = a->parameters();
  const std::vector<tessera::nn::Parameter> more = tessera::nn::make<Two>()->parameters();
  all.insert(all.end(), more.begin(), more.end());
  all[0] = all[3];
  all.erase(all.begin() + 1);
  std::swap(all[0], all[1]);
  tessera::nn::Parameter one = a->first;
  one = a->second;
  EXPECT_EQ(one.name(), "second");
  EXPECT_EQ(all.size(), 3U);
}
