// Row K8: modules as bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/base/context.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/io/value_bytes.h>
#include <tessera/nn/layers/activation/leaky_relu.h>
#include <tessera/nn/layers/adaptive_avg_pool.h>
#include <tessera/nn/layers/flatten.h>
#include <tessera/nn/layers/lazy.h>
#include <tessera/nn/state/arguments.h>
#include <tessera/nn/state/serialize.h>
#include <tessera/nn/state/tree_def.h>

#include "models.h"

namespace tessera::nn::contract {
namespace {

/// Settings, ties, a child that is there or not, a buffer that is not saved, extra state.
struct Saved : Module, HasExtraState {
  explicit Saved(std::int64_t width) : width_(width), scale(this, "scale", width) {
    second->factor.tie(scale->factor);
  }
  std::int64_t width_;
  Child<Scale> scale;
  Child<Scale> second{this, "second", width_};
  Buffer count{this, "count", zeros({1}), false};
  std::int64_t epoch = 0;
  Tensor forward(const Tensor& x) const { return second(scale(x)) + count; }
  [[nodiscard]] Value config() const override { return width_; }
  [[nodiscard]] Value get_extra_state() const override { return epoch; }
  void set_extra_state(const Value& state) override { epoch = state.get<std::int64_t>(); }
};

/// Says what its constructor takes.
struct Scale2 : Module {
  explicit Scale2(double factor) : factor_(factor) {}
  double factor_;
  Tensor forward(const Tensor& x) const { return x * factor_; }
  [[nodiscard]] auto arguments() const { return std::tuple(factor_); }
};

void register_once() {
  static const bool once = [] {
    register_class<Saved>(
        "Saved", [](const Value& config) { return make<Saved>(config.get<std::int64_t>()); });
    register_class<Scale>("Scale", [](const Value&) { return make<Scale>(); });
    register_class<Scale2>("Scale2");
    return true;
  }();
  static_cast<void>(once);
}

Ptr<Saved> example() {
  register_once();
  auto model = make<Saved>(4);
  model->epoch = 9;
  model->count.assign(full({1}, 3));
  model->second->eval();
  model->scale->factor.slot()->value.data<float>()[1] = 11;
  return model;
}

TEST(K8, gives_back_the_module) {
  const auto model = example();
  const ModulePtr copy = deserialize(serialize(*model));
  ASSERT_NE(dynamic_cast<Saved*>(copy.get()), nullptr);
  const auto& saved = static_cast<const Saved&>(*copy);
  EXPECT_TRUE(model->flatten().second == copy->flatten().second);
  EXPECT_EQ(saved.epoch, 9);
  EXPECT_FALSE(saved.second->training());
  EXPECT_TRUE(saved.scale->training());
  EXPECT_EQ(saved.second->factor.slot(), saved.scale->factor.slot());
  EXPECT_TRUE(saved.scale->factor.value().requires_grad());
  const Tensor x = ones({4});
  EXPECT_EQ((*copy)(x).to_vector<float>(), model(x).to_vector<float>());
  EXPECT_NE(saved.scale->factor.value().raw_data(), model->scale->factor.value().raw_data());
  EXPECT_EQ(serialize(*copy), serialize(*model));
}

TEST(K8, counts_as_no_model_made) {
  const auto bytes = serialize(*example());
  const std::uint64_t made = Context::current().models_made;
  static_cast<void>(deserialize(bytes));
  EXPECT_EQ(Context::current().models_made, made);
}

TEST(K8, children_and_ties_of_later_are_made_again) {
  register_once();
  const auto stack = make<Sequential>();
  stack->add<Scale>(3);
  stack->add<Saved>(3);
  stack->register_module("again", stack->children().at(0));
  stack->set("1", nullptr);
  stack->to_double();
  const ModulePtr copy = deserialize(serialize(*stack));
  EXPECT_TRUE(stack->flatten().second == copy->flatten().second);
  EXPECT_EQ(&copy->get_submodule("0"), &copy->get_submodule("again"));
  EXPECT_EQ(copy->get_parameter("0.factor").value().dtype(), DType::f64);
}

TEST(K8, ties_that_were_untied_stay_apart) {
  const auto model = example();
  model->second->register_parameter("factor", full({4}, 5));
  const ModulePtr copy = deserialize(serialize(*model));
  EXPECT_EQ(copy->get_parameter("second.factor").value().to_vector<float>(),
            std::vector<float>(4, 5));
  EXPECT_NE(copy->get_parameter("second.factor").slot(),
            copy->get_parameter("scale.factor").slot());
}

TEST(K8, unregistered_classes_are_named) {
  register_once();
  EXPECT_EQ(thrown<Unsupported>([] { static_cast<void>(serialize(*make<Leaf>())); }).substr(0, 60),
            "serialize: class \"Leaf\" is not registered; registered: Saved");
  const auto stack = make<Sequential>();
  stack->add<Leaf>();
  const auto bytes = serialize(*stack);
  EXPECT_NE(thrown<Unsupported>([&] {
              static_cast<void>(deserialize(bytes));
            }).find("deserialize: class \"Leaf\" is not registered"),
            std::string::npos);
}

TEST(K8, names_and_classes_are_registered_once) {
  register_once();
  const auto factory = [](const Value&) { return make<Scale>(); };
  EXPECT_THROW(register_class<Leaf>("Scale", factory), KeyError);
  EXPECT_THROW(register_class<Scale>("Other", factory), KeyError);
}

/// A network of the library's own layers, on 8x8 pictures.
Ptr<Sequential> convolutional() {
  const auto network = make<Sequential>();
  network->add<LazyConv2d>(4, 3, ConvOptions{.padding = "same", .bias = false});
  network->add<BatchNorm2d>(4, BatchNormOptions{.momentum = std::nullopt});
  network->add<LeakyReLU>(0.1, true);
  network->add<AdaptiveAvgPool2d>(PerDim{-1, 2});
  network->add<Flatten>();
  network->add<LazyLinear>(3);
  return network;
}

TEST(K8, layers_of_the_library_need_no_registration) {
  const auto network = convolutional();
  const Tensor x = randn({2, 3, 8, 8});
  static_cast<void>(network(x));
  const ModulePtr copy = deserialize(serialize(*network));
  network->eval();
  copy->eval();
  EXPECT_EQ(copy->repr(), network->repr());
  EXPECT_EQ((*copy)(x).to_vector<float>(), network(x).to_vector<float>());
}

TEST(K8, layers_that_wait_for_their_size_go_on_waiting) {
  const auto network = convolutional();
  const ModulePtr copy = deserialize(serialize(*network));
  EXPECT_EQ(copy->repr(), network->repr());
  EXPECT_FALSE(copy->get_submodule("0").built());
  EXPECT_EQ((*copy)(ones({2, 5, 8, 8})).shape(), (Shape{2, 3}));
  EXPECT_TRUE(copy->built());
}

TEST(K8, classes_that_tell_their_arguments_need_no_factory) {
  register_once();
  const ModulePtr copy = deserialize(serialize(*make<Scale2>(1.5)));
  EXPECT_EQ((*copy)(ones({1})).item<float>(), 1.5F);
}

TEST(K8, settings_of_another_form_are_refused) {
  const auto refused = [](const Value& config) {
    const Value::Map node{
        {"class", "nn.Linear"}, {"config", config}, {"training", true}, {"children", Value::Map()}};
    return thrown<IoError>([&] {
      static_cast<void>(deserialize(to_bytes(
          Value::Map{{"module", node}, {"slots", Value::List()}, {"extra_state", Value::Map()}})));
    });
  };
  const std::string begin = "deserialize: the bytes hold no module: config of nn.Linear: ";
  EXPECT_EQ(refused(Value::List{1}), begin + "wrong number of arguments; got 1, expected 3");
  EXPECT_EQ(refused(Value::List{2, 3, Value::Map()}), begin + "no \"bias\" among 0 names");
  EXPECT_EQ(refused(Value::List{2, 3, Value::Map{{"bias", true}, {"biased", true}}}),
            begin + "unknown options; got 2, expected 1");
  EXPECT_THAT(refused(Value::List{2, "3", Value::Map{{"bias", true}}}), testing::HasSubstr(begin));
}

TEST(K8, damaged_bytes_are_refused) {
  auto bytes = serialize(*example());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(static_cast<void>(deserialize(std::span(bytes).first(size))), IoError) << size;
  }
  for (std::byte& byte : bytes) {
    byte ^= std::byte{1};
    try {
      static_cast<void>(deserialize(bytes));
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()), "");
    }
    byte ^= std::byte{1};
  }
}

}  // namespace
}  // namespace tessera::nn::contract
