// Modules whose state lies on a device that the host cannot reach.
#include <gtest/gtest.h>

#include <tessera/core/tensor/transfer.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/layers/sequential.h>
#include <tessera/nn/make.h>
#include <tessera/nn/optim/sgd.h>

#include "support/bare_device.h"

namespace tessera::nn {
namespace {

using test::bare_device;

auto two_layers() {
  const auto model = make<Sequential>();
  model->add<Linear>(3, 4);
  model->add<Linear>(4, 2);
  return model;
}

TEST(MovedModule, keeps_its_values) {
  set_seed(1);
  const auto model = two_layers();
  const StateDict before = model->state_dict();
  std::vector<std::vector<float>> values;
  for (const auto& [name, value] : model->named_parameters()) {
    values.push_back(value.value().to_vector<float>());
  }
  model->to(bare_device());
  std::size_t i = 0;
  for (const auto& [name, value] : model->named_parameters()) {
    EXPECT_EQ(value.value().device(), bare_device()) << name;
    EXPECT_EQ(value.value().to_vector<float>(), values[i++]) << name;
  }
  model->to(Device{});
  EXPECT_EQ(model->state_dict().size(), before.size());
}

TEST(MovedModule, loads_and_is_loaded) {
  const auto here = two_layers(), there = two_layers();
  there->to(bare_device());
  there->load_state_dict(here->state_dict());
  EXPECT_EQ(there->named_parameters()[0].second.value().device(), bare_device());
  const auto back = two_layers();
  back->load_state_dict(there->state_dict());
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(back->named_parameters()[i].second.value().to_vector<float>(),
              here->named_parameters()[i].second.value().to_vector<float>());
  }
}

struct TiedLayers : Module {
  TiedLayers() { second->weight.tie(first->weight); }
  Child<Linear> first{this, "first", 3, 3, LinearOptions{.bias = false}};
  Child<Linear> second{this, "second", 3, 3, LinearOptions{.bias = false}};
};

TEST(MovedModule, keeps_its_ties) {
  const auto model = make<TiedLayers>();
  model->to(bare_device());
  ASSERT_EQ(model->parameters().size(), 1U);
  EXPECT_EQ(model->parameters()[0].value().device(), bare_device());
}

TEST(MovedModule, notices_that_it_is_loaded) {
  const auto here = two_layers(), there = two_layers();
  there->to(bare_device());
  const Tensor weight = there->named_parameters()[0].second.value();
  const auto before = weight.version();
  there->load_state_dict(here->state_dict());
  EXPECT_GT(weight.version(), before);
}

TEST(MovedModule, refuses_what_needs_kernels) {
  const auto model = two_layers();
  model->to(bare_device());
  EXPECT_THROW(static_cast<void>(model(zeros({1, 3}, {.device = bare_device()}))), Unsupported);
}

}  // namespace
}  // namespace tessera::nn
