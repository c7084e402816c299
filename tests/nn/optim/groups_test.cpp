// Options of groups follow their parameters, in whatever order an optimizer is given them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/nn/optim/adamw.h>

#include "nn/optim/model.h"
#include "support/error_of.h"

namespace tessera::optim {
namespace {

using nn::Parameter;
using testing::HasSubstr;
using testing_support::error_of;

struct Four : nn::Module {
  Parameter a{this, "a", {2}, nn::init::normal(0, 1)};
  Parameter b{this, "b", {2}, nn::init::normal(0, 1)};
  Parameter c{this, "c", {3}, nn::init::normal(0, 1)};
  Parameter d{this, "d", {2}, nn::init::normal(0, 1)};
};

/// Which parameters are in which group.
using Groups = std::vector<std::vector<int>>;

AdamW optimizer_of(const Four& model, const Groups& groups, const std::vector<double>& rates) {
  const std::vector<Parameter> all = model.parameters();
  AdamW optimizer;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::vector<Parameter> members;
    for (const int i : groups[g]) {
      members.push_back(all[static_cast<std::size_t>(i)]);
    }
    optimizer.add_group(members, {.lr = rates[g], .weight_decay = 2 * rates[g]});
  }
  return optimizer;
}

void step(const Four& model, AdamW& optimizer) {
  for (std::uint64_t key = 1; const Parameter& p : model.parameters()) {
    p.value().set_grad(gradient(p.shape(), key++));
  }
  optimizer.step();
}

std::string error_of_load(AdamW& optimizer, const OptimizerState& state) {
  return error_of<InvalidArgument>([&] { optimizer.load_state(state); });
}

TEST(Groups, any_order_of_groups_goes_on_as_the_saved_one) {
  const Groups saved{{0, 2}, {3}, {1}};
  const std::vector<double> rates{0.5, 0.25, 0.125};
  std::vector<std::size_t> order{0, 1, 2};
  do {
    set_seed(4);
    const auto model = nn::make<Four>();
    AdamW first = optimizer_of(*model, saved, rates);
    step(*model, first);
    const auto other = nn::make<Four>();
    other->load_state_dict(model->state_dict());
    Groups groups;
    for (const std::size_t g : order) {
      groups.push_back(saved[g]);
      std::ranges::reverse(groups.back());
    }
    AdamW second = optimizer_of(*other, groups, {1, 2, 3});
    second.load_state(first.state());
    for (std::size_t g = 0; g < order.size(); ++g) {
      EXPECT_EQ(second.lr(g), rates[order[g]]);
      EXPECT_EQ(second.options(g).weight_decay, 2 * rates[order[g]]);
    }
    step(*model, first);
    step(*other, second);
    EXPECT_EQ(values_of(*other), values_of(*model));
  } while (std::ranges::next_permutation(order).found);
}

TEST(Groups, states_without_the_members_of_groups_have_them_in_order) {
  const auto model = nn::make<Four>();
  AdamW first = optimizer_of(*model, {{0, 2}, {1, 3}}, {0.5, 0.25});
  step(*model, first);
  OptimizerState old = first.state();
  std::erase_if(old.numbers, [](const auto& n) { return n.first.starts_with("group/"); });
  AdamW second = optimizer_of(*model, {{0, 2}, {1, 3}}, {1, 2});
  second.load_state(old);
  EXPECT_EQ(second.lr(0), 0.5);
  EXPECT_EQ(second.lr(1), 0.25);
}

TEST(Groups, a_state_of_one_group_names_no_members) {
  const auto model = nn::make<Four>();
  for (const auto& [name, value] : AdamW(model->parameters()).state().numbers) {
    EXPECT_FALSE(name.starts_with("group/")) << name;
  }
}

TEST(Groups, an_empty_group_takes_what_is_left) {
  const auto model = nn::make<Four>();
  AdamW first = optimizer_of(*model, {{}, {0, 1, 2}, {3}}, {0.5, 0.25, 0.125});
  AdamW second = optimizer_of(*model, {{3}, {0, 1, 2}, {}}, {1, 2, 3});
  second.load_state(first.state());
  EXPECT_EQ(second.lr(0), 0.125);
  EXPECT_EQ(second.lr(1), 0.25);
  EXPECT_EQ(second.lr(2), 0.5);
}

TEST(Groups, other_groups_are_refused_and_nothing_is_changed) {
  const auto model = nn::make<Four>();
  const OptimizerState state = optimizer_of(*model, {{0, 1}, {2, 3}}, {0.5, 0.25}).state();
  AdamW mixed = optimizer_of(*model, {{0, 2}, {1, 3}}, {1, 2});
  EXPECT_THAT(error_of_load(mixed, state),
              HasSubstr("got c in group 0, where the state has it in its group 1 and others in its "
                        "group 0"));
  EXPECT_EQ(mixed.lr(0), 1);
  EXPECT_EQ(mixed.lr(1), 2);
  AdamW cut = optimizer_of(*model, {{0}, {1}}, {1, 2});
  EXPECT_THAT(error_of_load(cut, state),
              HasSubstr("got b in group 1, where the state has it in its "
                        "group 0, which is also another's here"));
  AdamW fewer = optimizer_of(*model, {{0, 1, 2, 3}}, {1});
  EXPECT_THAT(error_of_load(fewer, state),
              HasSubstr("wrong number of groups in the state; got 2, expected the optimizer's 1"));
}

}  // namespace
}  // namespace tessera::optim
