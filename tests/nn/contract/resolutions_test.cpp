// Rows A1, A16, F2, F10, M3, X1, X6, X8, X9, X18, X19, X21, X39, X44 and X45: where the systems
// that a Module unites differ, and what was chosen.
#include <gtest/gtest.h>

#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/nn/functional/pure.h>
#include <tessera/nn/layers/activation/sigmoid.h>
#include <tessera/nn/layers/activation/tanh.h>
#include <tessera/nn/layers/dropout.h>
#include <tessera/nn/state/tree_def.h>

#include "models.h"
#include "support/values.h"

namespace tessera::nn::contract {
namespace {

using testing_support::values;

/// One factor under two names, in two children.
struct TiedChain : Module {
  Child<Scale> b{this, "b"};
  Child<Scale> a{this, "a"};
  TiedChain() { a->factor.tie(b->factor); }
  Tensor forward(const Tensor& x) const { return a(b(x)); }
};

TEST(A1, a_new_module_trains_and_holds_nothing) {
  const auto module = make<Leaf>();
  EXPECT_TRUE(module->training());
  EXPECT_TRUE(module->named_slots().empty());
  EXPECT_TRUE(module->children().empty());
}

TEST(A16, the_version_is_one_unless_a_class_says_otherwise_and_is_saved) {
  struct Newer : Leaf {
    [[nodiscard]] int state_version() const override { return 3; }
  };
  EXPECT_EQ(make<Leaf>()->state_version(), 1);
  const StateDict state = make<Newer>()->state_dict();
  EXPECT_EQ(state.metadata().at("").at("version").get<std::int64_t>(), 3);
}

TEST(F2, calling_runs_hooks_and_forward_alone_does_not) {
  const auto module = make<Scale>();
  int calls = 0;
  module->register_forward_hook([&](const Module&, const Args&, const Value&) { ++calls; });
  module(ones({3}));
  EXPECT_EQ(calls, 1);
  static_cast<void>(module->forward(ones({3})));
  EXPECT_EQ(calls, 1);
}

TEST(F10, what_a_call_is_told_reaches_every_module_below) {
  struct Holder : Module {
    Child<Dropout> dropout{this, "dropout", 0.5};
    Tensor forward(const Tensor& x) const { return dropout(x); }
  };
  const auto model = make<Holder>();
  const Tensor x = ones({64});
  EXPECT_EQ(values(model(x, CallOptions{.training = false})), values(x));
  EXPECT_EQ(values(call(model, x, CallOptions{.training = false})), values(x));
  EXPECT_NE(values(model(x)), values(x));
}

TEST(M3, any_class_is_a_node_of_a_tree_without_saying_so) {
  struct Plain : Module {
    Child<Scale> scale{this, "scale"};
    int setting = 7;
    Tensor forward(const Tensor& x) const { return scale(x); }
  };
  const auto [leaves, definition] = make<Plain>()->flatten();
  const auto twin = std::dynamic_pointer_cast<Plain>(Module::unflatten(definition, leaves));
  ASSERT_NE(twin, nullptr);
  EXPECT_EQ(twin->setting, 7);
}

TEST(X1, zero_grad_drops_gradients_unless_asked_for_zeros) {
  const auto module = make<Scale>();
  sum(module(ones({3}))).backward();
  module->zero_grad(false);
  EXPECT_EQ(values(module->factor.grad()), (std::vector<float>{0, 0, 0}));
  module->zero_grad();
  EXPECT_FALSE(module->factor.grad().defined());
}

TEST(X6, duplicates_are_left_out_of_every_list_by_default) {
  const auto model = make<TiedChain>();
  model->register_module("again", model->a.ptr());
  EXPECT_EQ(names_of(model->named_parameters()), "b.factor ");
  EXPECT_EQ(names_of(model->named_parameters({.remove_duplicate = false})),
            "b.factor a.factor again.factor ");
  EXPECT_EQ(names_of(model->named_modules()), " b a ");
  EXPECT_EQ(names_of(model->named_modules(nullptr, "", false)), " b a again ");
}

TEST(X8, a_child_may_be_reserved) {
  const auto model = make<Leaf>();
  model->register_module("later", nullptr);
  EXPECT_TRUE(model->named_children().empty());
  EXPECT_EQ(model->repr(), "Leaf(\n  (later): None\n)");
}

TEST(X9, extra_repr_returns_the_text) {
  struct Named : Leaf {
    [[nodiscard]] std::string extra_repr() const override { return "size=3"; }
  };
  EXPECT_EQ(make<Named>()->repr(), "Named(size=3)");
}

TEST(X18, of_tied_names_the_first_in_traversal_stays) {
  const auto model = make<TiedChain>();
  EXPECT_EQ(names_of(model->v().leaves()), "b.factor ");
  EXPECT_EQ(model->v().aliases().at("a.factor"), "b.factor");
  EXPECT_EQ(names_of(model->state_dict()), "b.factor a.factor ");
}

TEST(X19, variables_are_names_and_values) {
  const Variables variables = make<Outer>()->variables();
  EXPECT_EQ(names_of(variables.leaves()), "inner.offset inner.scale.factor last.factor ");
  EXPECT_EQ(values(variables.at("inner/offset")), (std::vector<float>{1, 1, 1}));
}

TEST(X21, activations_without_settings_take_options_of_modules_alone) {
  EXPECT_EQ(make<Sigmoid>(ModuleOptions{.name = "gate"})->name(), "gate");
  EXPECT_EQ(make<Tanh>()->repr(), "Tanh()");
}

TEST(X39, what_two_parents_share_is_cast_once_and_visited_twice) {
  struct Sharing : Module {
    Child<Inner> first{this, "first"};
    Child<Leaf> second{this, "second"};
    Sharing() { second->register_module("scale", first->scale.ptr()); }
  };
  const auto model = make<Sharing>();
  int visits = 0;
  const auto count = [&](Module& module) { visits += dynamic_cast<Scale*>(&module) != nullptr; };
  model->apply(count);
  EXPECT_EQ(visits, 2);
  model->apply(count, true);
  EXPECT_EQ(visits, 3);
  model->to(DType::f64);
  EXPECT_EQ(model->first->scale->factor.slot(),
            model->second->get_parameter("scale.factor").slot());
  EXPECT_EQ(model->first->scale->factor.value().dtype(), DType::f64);
}

TEST(X44, what_needs_no_gradient_runs_under_a_guard) {
  const auto module = make<Scale>();
  const NoGradGuard off;
  EXPECT_FALSE(module(ones({3})).requires_grad());
  const auto [value, grads, next] =
      value_and_grad([](const auto& m) { return sum(m(ones({3}))); }, module);
  EXPECT_EQ(values(grads.at("factor")), (std::vector<float>{1, 1, 1}));
}

TEST(X45, a_module_prints_its_tree) {
  EXPECT_EQ(make<Inner>()->repr(), "Inner(\n  (scale): Scale()\n)");
}

}  // namespace
}  // namespace tessera::nn::contract
