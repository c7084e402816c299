// Row K8: modules as bytes.
#include <gtest/gtest.h>

#include <tessera/core/base/context.h>
#include <tessera/nn/state/serialize.h>
#include <tessera/nn/state/tree_def.h>

#include "models.h"
#include "support/error_of.h"

namespace tessera::nn::contract {
namespace {

using testing_support::error_of;

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

void register_once() {
  static const bool once = [] {
    register_class<Saved>(
        "Saved", [](const Value& config) { return make<Saved>(config.get<std::int64_t>()); });
    register_class<Scale>("Scale");
    return true;
  }();
  static_cast<void>(once);
}

Ptr<Saved> saved_example() {
  register_once();
  auto model = make<Saved>(4);
  model->epoch = 9;
  model->count.assign(full({1}, 3));
  model->second->eval();
  model->scale->factor.slot()->value.data<float>()[1] = 11;
  return model;
}

TEST(K8, gives_back_the_module) {
  const auto model = saved_example();
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
  const auto bytes = serialize(*saved_example());
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
  const auto model = saved_example();
  model->second->register_parameter("factor", full({4}, 5));
  const ModulePtr copy = deserialize(serialize(*model));
  EXPECT_EQ(copy->get_parameter("second.factor").value().to_vector<float>(),
            std::vector<float>(4, 5));
  EXPECT_NE(copy->get_parameter("second.factor").slot(),
            copy->get_parameter("scale.factor").slot());
}

TEST(K8, unregistered_classes_are_named) {
  register_once();
  const auto text = error_of<Unsupported>([] { static_cast<void>(serialize(*make<Leaf>())); });
  EXPECT_TRUE(text.starts_with("serialize: class \"Leaf\" is not registered; registered: "));
  EXPECT_NE(text.find("Saved, Scale"), std::string::npos);
  EXPECT_NE(text.find(" and Tessera's own layers and losses; see register_class"),
            std::string::npos);
  const auto stack = make<Sequential>();
  stack->add<Leaf>();
  const auto bytes = serialize(*stack);
  EXPECT_NE(error_of<Unsupported>([&] {
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

TEST(K8, damaged_bytes_are_refused) {
  auto bytes = serialize(*saved_example());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(static_cast<void>(deserialize(std::span(bytes).first(size))), IoError) << size;
  }
  for (std::byte& byte : bytes) {
    byte ^= std::byte{1};
    EXPECT_THROW(static_cast<void>(deserialize(bytes)), IoError);
    byte ^= std::byte{1};
  }
}

}  // namespace
}  // namespace tessera::nn::contract
