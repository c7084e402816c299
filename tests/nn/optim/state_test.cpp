// What an optimizer's state holds, whom it belongs to and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/layers/parameter_list.h>
#include <tessera/nn/layers/sequential.h>
#include <tessera/nn/optim/adamw.h>
#include <tessera/nn/optim/sgd.h>

#include "nn/optim/model.h"
#include "support/error_of.h"

namespace tessera::optim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_support::error_of;

TEST(OptimizerState, goes_on_from_its_state_bit_for_bit) {
  const auto run = [](std::uint64_t from, std::uint64_t to, const Model& model, AdamW& optimizer) {
    for (std::uint64_t step = from; step < to; ++step) {
      set_gradients(model, step);
      if (step == 2) {  // some parameters have fewer updates than others
        model.small.value().set_grad({});
      }
      optimizer.step();
    }
  };
  set_seed(3);
  const auto whole = nn::make<Model>();
  AdamW first(whole->parameters(), {.lr = 0.01});
  run(0, 3, *whole, first);
  const auto resumed = nn::make<Model>();
  resumed->load_state_dict(whole->state_dict());
  AdamW second(resumed->parameters(), {.lr = 0.5});
  second.load_state(first.state());
  EXPECT_EQ(second.lr(), 0.01);
  run(3, 6, *whole, first);
  run(3, 6, *resumed, second);
  EXPECT_EQ(values_of(*resumed), values_of(*whole));
  EXPECT_EQ(second.steps(), 6);
}

/// Two layers that were each made on their own, so that both have a "weight".
nn::Ptr<nn::Sequential> joined() {
  const auto model = nn::make<nn::Sequential>();
  model->add<nn::Linear>(3, 3);
  model->add<nn::Linear>(3, 3);
  return model;
}

std::vector<std::string> names_of(const Optimizer& optimizer) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : optimizer.state().tensors) {
    names.push_back(name);
  }
  return names;
}

/// One step of momentum on gradients that differ from parameter to parameter.
void step_once(const std::vector<nn::Parameter>& parameters, Optimizer& optimizer) {
  for (std::uint64_t key = 1; const nn::Parameter& parameter : parameters) {
    parameter.value().set_grad(gradient(parameter.shape(), key++));
  }
  optimizer.step();
}

/// Whether each parameter gets its own momentum back.
void expect_own_momenta(const std::vector<nn::Parameter>& parameters) {
  SGD first(parameters, {.lr = 0.1, .momentum = 0.9});
  step_once(parameters, first);
  SGD second(parameters, {.lr = 0.1, .momentum = 0.9});
  second.load_state(first.state());
  const OptimizerState before = first.state();
  const OptimizerState after = second.state();
  ASSERT_EQ(after.tensors.size(), parameters.size());
  for (std::size_t i = 0; i < after.tensors.size(); ++i) {
    EXPECT_EQ(after.tensors[i].second.to_vector<float>(),
              before.tensors[i].second.to_vector<float>())
        << after.tensors[i].first;
  }
}

TEST(OptimizerState, names_state_as_the_whole_tree_names_parameters) {
  const auto model = joined();
  SGD optimizer(model->parameters(), {.lr = 0.1, .momentum = 0.9});
  step_once(model->parameters(), optimizer);
  EXPECT_THAT(names_of(optimizer),
              ElementsAre("momentum_buffer/0.weight", "momentum_buffer/0.bias",
                          "momentum_buffer/1.weight", "momentum_buffer/1.bias"));
  expect_own_momenta(model->parameters());
}

TEST(OptimizerState, names_state_as_the_tree_is_when_it_is_asked) {
  const auto one = nn::make<nn::Linear>(3, 3);
  const auto two = nn::make<nn::Linear>(3, 3);
  const std::vector<nn::Parameter> all{one->weight, two->weight};
  SGD optimizer(all, {.lr = 0.1, .momentum = 0.9});
  step_once(all, optimizer);
  EXPECT_THAT(names_of(optimizer),
              ElementsAre("momentum_buffer/weight", "momentum_buffer/weight#2"));
  const auto model = nn::make<nn::Sequential>();
  model->register_module("0", two);
  model->register_module("1", one);
  EXPECT_THAT(names_of(optimizer),
              ElementsAre("momentum_buffer/1.weight", "momentum_buffer/0.weight"));
  SGD later({two->weight, one->weight}, {.lr = 0.1, .momentum = 0.9});
  EXPECT_NO_THROW(later.load_state(optimizer.state()));
}

TEST(OptimizerState, names_tensors_that_modules_registered_later) {
  struct Holder : nn::Module {};
  const auto model = nn::make<Holder>();
  for (const char* name : {"a", "b"}) {
    model->register_module(name, nn::make<nn::ParameterList>())->append(zeros({2}));
  }
  SGD optimizer(model->parameters(), {.lr = 0.1, .momentum = 0.9});
  step_once(model->parameters(), optimizer);
  EXPECT_THAT(names_of(optimizer), ElementsAre("momentum_buffer/a.0", "momentum_buffer/b.0"));
}

TEST(OptimizerState, numbers_parameters_of_one_name_in_several_models) {
  const auto one = nn::make<Model>();
  const auto other = nn::make<Model>();
  SGD optimizer({one->small, other->small}, {.lr = 0.1, .momentum = 0.9});
  step_once({one->small, other->small}, optimizer);
  EXPECT_THAT(names_of(optimizer), ElementsAre("momentum_buffer/small", "momentum_buffer/small#2"));
  expect_own_momenta({one->small, other->small});
}

TEST(OptimizerState, refuses_state_that_does_not_fit) {
  const auto model = nn::make<Model>();
  AdamW optimizer(model->parameters());
  set_gradients(*model, 1);
  optimizer.step();
  const auto refused = [&](const std::function<void(OptimizerState&)>& spoil) {
    OptimizerState state = optimizer.state();
    spoil(state);
    return error_of<InvalidArgument>([&] { optimizer.load_state(state); });
  };
  EXPECT_EQ(refused([](OptimizerState&) {}), "no error");
  EXPECT_THAT(refused([](OptimizerState& s) { s.tensors.pop_back(); }),
              HasSubstr("no tensor named exp_avg_sq/small"));
  EXPECT_THAT(refused([](OptimizerState& s) { s.tensors.erase(s.tensors.begin()); }),
              HasSubstr("no tensor named exp_avg/large"));
  EXPECT_THAT(refused([](OptimizerState& s) { s.tensors.clear(); }),
              HasSubstr("no tensor named exp_avg_sq/large; its parameter was updated 1 times"));
  EXPECT_THAT(refused([](OptimizerState& s) { s.numbers.pop_back(); }),
              HasSubstr("no number named group.0."));
  EXPECT_THAT(refused([](OptimizerState& s) { s.numbers.emplace_back("steps/other", 1); }),
              HasSubstr("no parameter or option for the number steps/other"));
  EXPECT_THAT(refused([](OptimizerState& s) { s.tensors[0].second = zeros({2}); }),
              HasSubstr("wrong shape of exp_avg/large"));
  EXPECT_THAT(refused([](OptimizerState& s) { s.tensors[0].first = "exp_avg/other"; }),
              HasSubstr("exp_avg/"));
  EXPECT_THAT(refused([](OptimizerState& s) { s.numbers.clear(); }), HasSubstr("named steps"));
  EXPECT_THAT(refused([](OptimizerState& s) { s.numbers[0].second = -1; }), HasSubstr("no count"));
  EXPECT_THAT(refused([](OptimizerState& s) { s.numbers.emplace_back("group.1.lr", 1); }),
              HasSubstr("wrong number of groups in the state; got 2"));
}

TEST(OptimizerState, refuses_state_of_fewer_groups) {
  const auto model = nn::make<Model>();
  AdamW two({model->large});
  const OptimizerState state = two.state();
  two.add_group({model->small}, {.lr = 0.5});
  EXPECT_THROW(two.load_state(state), InvalidArgument);
  EXPECT_EQ(two.lr(1), 0.5);
}

TEST(OptimizerState, keeps_its_options_when_it_refuses_state) {
  const auto model = nn::make<Model>();
  AdamW optimizer(model->parameters(), {.lr = 0.25});
  OptimizerState state = AdamW(model->parameters(), {.lr = 0.5, .amsgrad = true}).state();
  state.tensors.emplace_back("exp_avg/other", zeros({2}));
  EXPECT_THROW(optimizer.load_state(state), InvalidArgument);
  EXPECT_EQ(optimizer.lr(), 0.25);
  EXPECT_FALSE(optimizer.options().amsgrad);
  state.tensors.clear();
  std::ranges::find(state.numbers, "group.0.beta1", [](auto& n) { return n.first; })->second = 2;
  EXPECT_THROW(optimizer.load_state(state), ValueError);
  EXPECT_EQ(optimizer.lr(), 0.25);
}

TEST(OptimizerState, takes_up_states_that_its_options_did_not_ask_for) {
  const auto model = nn::make<Model>();
  SGD with(model->parameters(), {.lr = 0.1, .momentum = 0.9});
  set_gradients(*model, 1);
  with.step();
  SGD without(model->parameters(), {.lr = 0.1});
  without.load_state(with.state());
  EXPECT_EQ(without.options().momentum, 0.9);
  EXPECT_EQ(without.state().tensors.size(), 2U);
}

TEST(OptimizerState, saves_a_momentum_that_was_just_turned_on) {
  const auto model = nn::make<Model>();
  SGD optimizer(model->parameters());
  set_gradients(*model, 1);
  optimizer.step();
  optimizer.set_momentum(0.5);
  EXPECT_NO_THROW(SGD(model->parameters()).load_state(optimizer.state()));
}

struct TwoLayers : nn::Module {
  nn::Child<nn::Linear> a{this, "a", 3, 3};
  nn::Child<nn::Linear> b{this, "b", 3, 3};
};

TEST(OptimizerState, may_be_that_of_the_optimizer_itself_in_other_places) {
  const auto model = nn::make<TwoLayers>();
  AdamW optimizer(model->parameters(), {.lr = 0.1});
  sum(model->a(ones({2, 3})) * 2.0 + model->b(randn({2, 3}))).backward();
  optimizer.step();
  OptimizerState state = optimizer.state();
  const auto tensor = [&](const std::string& name) -> Tensor& {
    return std::ranges::find(state.tensors, name, [](const auto& each) { return each.first; })
        ->second;
  };
  const std::vector<float> a = tensor("exp_avg/a.weight").to_vector<float>();
  const std::vector<float> b = tensor("exp_avg/b.weight").to_vector<float>();
  ASSERT_NE(a, b);
  std::swap(tensor("exp_avg/a.weight"), tensor("exp_avg/b.weight"));
  optimizer.load_state(state);
  state = optimizer.state();
  EXPECT_EQ(tensor("exp_avg/a.weight").to_vector<float>(), b);
  EXPECT_EQ(tensor("exp_avg/b.weight").to_vector<float>(), a);
}

}  // namespace
}  // namespace tessera::optim
