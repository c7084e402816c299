// What is written over a tree's tensors is written whole or not at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include <tessera/core/ops/expand.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/nn/layers/linear.h>

#include "models.h"
#include "support/error_of.h"

namespace tessera::nn::contract {
namespace {

using testing::HasSubstr;
using testing_support::error_of;

/// One parameter or buffer that may be an obstacle, between two that are none.
struct Between : Module {
  Parameter first{this, "first", {2, 3}, init::constant(1)};
  Parameter weight{this, "weight", {2, 3}, init::constant(1)};
  Buffer mean{this, "mean", ones({2, 3})};
  Buffer last{this, "last", ones({2, 3})};
};

/// As many elements as a row, shown several times.
Tensor repeated() {
  return expand(ones({1, 3}), {2, 3}).detach();
}

StateDict twos() {
  StateDict state;
  for (const char* name : {"first", "weight", "mean", "last"}) {
    state.set(name, full({2, 3}, 2));
  }
  return state;
}

/// What stands in the way of the slot `name`.
struct Obstacle {
  const char* says;
  void (*put)(const SlotPtr& slot, Value& given);
};

const std::vector<Obstacle> kObstacles{
    {"share memory", [](const SlotPtr& slot, Value&) { slot->put(repeated()); }},
    {"file c64",
     [](const SlotPtr&, Value& given) {
       given = zeros({2, 3}, {.dtype = DType::c64});
     }},
    {"what is given has no data (meta)",
     [](const SlotPtr&, Value& given) {
       given = empty({2, 3}, {.device = {.type = DeviceType::meta}});
     }},
    {"not a tensor", [](const SlotPtr&, Value& given) { given = Tensor(); }},
    {"not a tensor", [](const SlotPtr&, Value& given) { given = Value(2.0); }},
    {"file (3,)", [](const SlotPtr&, Value& given) { given = ones({3}); }},
};

void expect_ones(const Module& model, const std::string& what) {
  for (const auto& [name, slot] : model.named_slots()) {
    EXPECT_EQ(slot->value.to_vector<float>(), std::vector<float>(6, 1)) << name << what;
  }
}

TEST(Overwriting, a_problem_anywhere_is_found_before_the_first_write) {
  for (const char* name : {"first", "weight", "mean", "last"}) {
    for (const Obstacle& obstacle : kObstacles) {
      for (const bool strict : {true, false}) {
        const auto model = make<Between>();
        StateDict state = twos();
        for (const auto& [own, slot] : model->named_slots()) {
          if (own == name) {
            Value given = state.at(name);
            obstacle.put(slot, given);
            state.set(name, given);
          }
        }
        const std::string text =
            error_of<RuntimeError>([&] { model->load_state_dict(state, {.strict = strict}); });
        EXPECT_THAT(text, HasSubstr(obstacle.says)) << name;
        EXPECT_THAT(text, HasSubstr(std::string("\"") + name + "\"")) << obstacle.says;
        expect_ones(*model, obstacle.says);
      }
    }
  }
}

TEST(Overwriting, a_repeated_tensor_is_replaced_where_it_is_assigned) {
  const auto model = make<Between>();
  model->mean.slot()->put(repeated());
  model->load_state_dict(twos(), {.assign = true});
  EXPECT_EQ(model->mean.value().to_vector<float>(), std::vector<float>(6, 2));
}

TEST(Overwriting, what_fails_later_is_undone_beside_a_repeated_tensor) {
  struct Late : Between, HasExtraState {
    Buffer shown{this, "shown", repeated(), false};
    [[nodiscard]] Value get_extra_state() const override { return 1.0; }
    void set_extra_state(const Value& state) override {
      check<ValueError>(state.get<double>() == 1, "extra state: not 1");
    }
  };
  const auto model = make<Late>();
  StateDict state = twos();
  state.set("_extra_state", 2.0);
  EXPECT_EQ(error_of<ValueError>([&] { model->load_state_dict(state); }), "extra state: not 1");
  expect_ones(*model, " after extra state");
}

TEST(Overwriting, variables_are_checked_as_states_are) {
  const auto model = make<Between>();
  Variables values = model->v().map([](const Tensor& x) { return full(x.shape(), 2); });
  model->weight.slot()->put(repeated());
  EXPECT_THAT(error_of<StructureError>([&] { model->set_v(values); }),
              HasSubstr("\"weight\": several of its elements share memory"));
  expect_ones(*model, " after set_v");
  model->weight.slot()->put(ones({2, 3}));
  values.at("weight") = zeros({2, 3}, {.dtype = DType::c64});
  EXPECT_THAT(error_of<StructureError>([&] { model->set_v(values); }),
              HasSubstr("\"weight\": cannot take complex numbers"));
  expect_ones(*model, " after set_v");
}

struct Pair : Module {
  Child<Linear> a{this, "a", 3, 3};
  Child<Linear> b{this, "b", 3, 3};
};

TEST(Overwriting, variables_of_the_module_itself_may_change_places) {
  const auto model = make<Pair>();
  const std::vector<float> a = model->a->weight.value().to_vector<float>();
  const std::vector<float> b = model->b->weight.value().to_vector<float>();
  const Variables own = model->v();
  Variables swapped = own;
  swapped.at("a.weight") = own.at("b.weight");
  swapped.at("b.weight") = transpose(own.at("a.weight"), 0, 1);
  model->set_v(swapped);
  EXPECT_EQ(model->a->weight.value().to_vector<float>(), b);
  EXPECT_EQ(transpose(model->b->weight.value(), 0, 1).to_vector<float>(), a);
}

TEST(Overwriting, a_call_with_variables_names_a_place_without_value) {
  const auto model = make<Linear>(2, 3);
  Variables values = model->v() * 0.0;
  values.at("bias") = Tensor();
  EXPECT_NE(testing_support::error_of<StructureError>([&] {
              return model(ones({1, 2}), CallOptions{.v = &values});
            }).find("no value for \"bias\""),
            std::string::npos);
  EXPECT_NO_THROW(
      static_cast<void>(model(ones({1, 2}), CallOptions{.v = &values, .with_partial_v = true})));
}

}  // namespace
}  // namespace tessera::nn::contract
