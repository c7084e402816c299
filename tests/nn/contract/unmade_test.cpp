// Modules that nobody made as one should: the text says what to write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/tensor/factories.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/module.h>

#include "models.h"
#include "support/error_of.h"

namespace tessera::nn::contract {
namespace {

using testing::HasSubstr;
using testing_support::error_of;

struct Keeps : Module {
  Ptr<Linear> kept = make<Linear>(2, 2);
  Tensor forward(const Tensor& x) const { return kept(x); }
};

/// The same, with a name for what it makes.
struct Registers : Module {
  Ptr<Linear> kept = make<Linear>(2, 2);
  Registers() { register_module("kept", kept); }
  Tensor forward(const Tensor& x) const { return kept(x); }
};

TEST(Unmade, a_module_in_a_plain_member_is_to_be_a_child) {
  const auto model = make<Keeps>();
  EXPECT_THAT(error_of<RuntimeError>([&] {
                static_cast<void>(model(ones({1, 2})));
              }),
              HasSubstr("Linear: was made in the constructor of another module and is no part of "
                        "it, so it has no values; write nn::Child<Linear> member{this, "));
}

TEST(Unmade, a_module_that_was_registered_is_built) {
  const auto model = make<Registers>();
  EXPECT_EQ(model->parameters().size(), 2U);
  EXPECT_EQ(model(ones({1, 2})).shape(), (Shape{1, 2}));
}

TEST(Unmade, a_module_of_its_own_constructor_is_to_be_made) {
  const auto layer = std::make_shared<Linear>(2, 2);
  const auto text = error_of<RuntimeError>([&] { static_cast<void>((*layer)(ones({1, 2}))); });
  EXPECT_THAT(text, HasSubstr("Linear: was not made by nn::make"));
  EXPECT_THAT(text, HasSubstr("nn::make<Linear>(...)"));
  EXPECT_THAT(error_of<RuntimeError>([&] {
                static_cast<void>(Ptr<Linear>(layer)(ones({1, 2})));
              }),
              HasSubstr("Linear: was not made by nn::make, so it has no values"));
}

}  // namespace
}  // namespace tessera::nn::contract
