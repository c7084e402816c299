// Rows E1 to E6, P-7, I1 to I5, A15 and L2: lists, modes and the printed form.
#include <gtest/gtest.h>

#include <tessera/nn/layers/module_list.h>
#include <tessera/nn/layers/sequential.h>
#include <tessera/nn/optim/sgd.h>

#include "models.h"
#include "support/error_of.h"

namespace tessera::nn::contract {
namespace {

using testing_support::error_of;

/// One Scale as "a" and as "b", and its factor once more as "own".
struct SharedScale : Module {
  SharedScale() {
    auto scale = register_module("a", make<Scale>());
    register_module("b", scale);
    Parameter(this, "own", {3}, init::ones()).tie(scale->factor);
  }
};

TEST(E1, named_parameters_lists_parents_first_and_slots_once) {
  const auto model = make<SharedScale>();
  EXPECT_EQ(names_of(model->named_parameters()), "own ");
  EXPECT_EQ(names_of(model->named_parameters({.remove_duplicate = false})),
            "own a.factor b.factor ");
  const auto outer = make<Outer>();
  EXPECT_EQ(names_of(outer->named_parameters({.prefix = "p"})),
            "p.inner.scale.factor p.last.factor ");
  EXPECT_EQ(names_of(outer->named_parameters({.recurse = false})), "");
}

TEST(E2, parameters_are_the_values) {
  const auto model = make<Outer>();
  ASSERT_EQ(model->parameters().size(), 2U);
  EXPECT_EQ(model->parameters()[1].slot(), model->last->factor.slot());
  EXPECT_TRUE(model->parameters(false).empty());
}

TEST(E2, an_optimizer_takes_no_empty_list) {
  EXPECT_EQ(error_of<ValueError>([] { optim::SGD(make<Leaf>()->parameters(), {}); }),
            "optimizer: got an empty list of parameters");
}

TEST(E3, named_buffers_lists_those_that_are_not_persistent_too) {
  const auto model = make<Outer>();
  model->inner->register_buffer("passing", ones({1}), false);
  EXPECT_EQ(names_of(model->named_buffers()), "inner.offset inner.passing ");
  EXPECT_EQ(model->buffers().size(), 2U);
  EXPECT_TRUE(model->buffers(false).empty());
}

TEST(E4, named_children_lists_a_shared_child_once) {
  const auto model = make<SharedScale>();
  EXPECT_EQ(names_of(model->named_children()), "a ");
  EXPECT_EQ(model->children().size(), 1U);
}

TEST(E5, named_modules_of_one_module_in_two_places) {
  const auto shared = make<Linear>(2, 2);
  const auto model = make<Sequential>();
  model->register_module("0", shared);
  model->register_module("1", shared);
  EXPECT_EQ(names_of(model->named_modules()), " 0 ");
  EXPECT_EQ(names_of(model->named_modules(nullptr, "net", false)), "net net.0 net.1 ");
}

TEST(E5, a_memo_leaves_out_what_it_holds) {
  const auto model = make<Outer>();
  std::unordered_set<const Module*> memo{&*model->inner};
  EXPECT_EQ(names_of(model->named_modules(&memo)), " last ");
  EXPECT_EQ(memo.size(), 3U);
  EXPECT_TRUE(model->named_modules(&memo).empty());
}

TEST(E6, modules_are_the_values) {
  const auto model = make<Outer>();
  const std::vector<Module*> expected{model.get(), &*model->inner, &*model->inner->scale,
                                      &*model->last};
  EXPECT_EQ(model->modules(), expected);
}

TEST(P_7, tied_weights_are_listed_once_or_twice) {
  const auto model = make<SharedScale>();
  EXPECT_EQ(model->named_parameters().size(), 1U);
  EXPECT_EQ(model->named_parameters({.remove_duplicate = false}).size(), 3U);
  const auto shared = make<Inner>();
  const auto both = make<Leaf>();
  both->register_module("a", shared);
  both->register_module("b", shared);
  EXPECT_EQ(both->named_buffers().size(), 1U);
  EXPECT_EQ(names_of(both->named_buffers({.remove_duplicate = false})), "a.offset b.offset ");
}

TEST(I1, train_and_eval_reach_the_whole_tree) {
  const auto model = make<Outer>();
  EXPECT_TRUE(model->training());
  EXPECT_EQ(&model->eval(), model.get());
  for (const Module* module : model->modules()) {
    EXPECT_FALSE(module->training());
  }
  model->train();
  EXPECT_TRUE(model->inner->scale->training());
}

TEST(T_5, training_can_be_read_and_follows_train) {
  const auto model = make<Leaf>();
  EXPECT_TRUE(model->training());
  EXPECT_FALSE(model->train(false).training());
}

TEST(A15, training_is_on_at_first_and_part_of_what_is_copied) {
  const auto model = make<Outer>();
  EXPECT_TRUE(model->inner->training());
  model->inner->eval();
  EXPECT_FALSE(model->clone()->get_submodule("inner").training());
  EXPECT_TRUE(model->training());
}

TEST(I2, eval_gives_back_the_module_and_reaches_all_below) {
  const auto model = make<Outer>();
  EXPECT_EQ(&model->eval(), model.get());
  EXPECT_FALSE(model->inner->scale->training());
}

TEST(I4, zero_grad_leaves_buffers_and_frees_gradients_from_their_graph) {
  const auto model = make<Inner>();
  model(ones({3})).backward(ones({3}));
  const Tensor history = ones({3}).set_requires_grad(true) * 2.0;
  model->scale->factor.value().set_grad(history);
  model->zero_grad(false);
  EXPECT_FALSE(model->scale->factor.grad().requires_grad());
  EXPECT_EQ(model->offset.value().to_vector<float>(), (std::vector<float>{1, 1, 1}));
  model->zero_grad();
  EXPECT_FALSE(model->scale->factor.grad().defined());
}

TEST(I4, zero_grad_reaches_frozen_parameters) {
  const auto model = make<Scale>();
  model(ones({3})).backward(ones({3}));
  model->requires_grad_(false);
  model->zero_grad(false);
  EXPECT_EQ(model->factor.grad().to_vector<float>(), (std::vector<float>{0, 0, 0}));
  model->zero_grad();
  EXPECT_FALSE(model->factor.grad().defined());
  EXPECT_FALSE(model->factor.value().requires_grad());
}

TEST(I3, requires_grad_leaves_buffers_alone) {
  const auto model = make<Outer>();
  model->requires_grad_(false);
  EXPECT_FALSE(model->last->factor.value().requires_grad());
  EXPECT_FALSE(model->inner->offset.value().requires_grad());
  EXPECT_TRUE(model->requires_grad_().get_parameter("last.factor").value().requires_grad());
}

TEST(T_2, zero_grad_drops_gradients_or_makes_them_zeros) {
  const auto model = make<Scale>();
  model(ones({3})).backward(ones({3}));
  model->zero_grad(false);
  EXPECT_EQ(model->factor.grad().to_vector<float>(), (std::vector<float>{0, 0, 0}));
  EXPECT_FALSE(model->factor.grad().requires_grad());
  model->zero_grad();
  EXPECT_FALSE(model->factor.grad().defined());
}

TEST(I5, apply_visits_children_first_and_shared_ones_twice) {
  const auto model = make<Outer>();
  std::string order;
  model->apply([&](Module& m) { order += m.class_name() + " "; });
  EXPECT_EQ(order, "Scale Inner Scale Outer ");
  const auto shared = make<Leaf>();
  const auto top = make<Leaf>();
  top->add_module("a", make<Leaf>())->add_module("x", shared);
  top->add_module("b", make<Leaf>())->add_module("x", shared);
  int visits = 0;
  const auto count = [&](Module& m) { visits += &m == shared.get() ? 1 : 0; };
  top->apply(count);
  EXPECT_EQ(visits, 2);
  top->apply(count, true);
  EXPECT_EQ(visits, 3);
}

TEST(L2, printed_form_of_empty_inline_and_nested) {
  EXPECT_EQ(make<Leaf>()->repr(), "Leaf()");
  EXPECT_EQ(make<Linear>(2, 3)->repr(), "Linear(in_features=2, out_features=3, bias=True)");
  const auto model = make<Outer>();
  model->set("last", nullptr);
  EXPECT_EQ(model->repr(),
            "Outer(\n  (inner): Inner(\n    (scale): Scale()\n  )\n  (last): None\n)");
}

TEST(L2, a_list_prints_equal_children_in_a_row_once) {
  const auto list = make<ModuleList<Linear>>();
  EXPECT_EQ(list->repr(), "ModuleList()");
  for (const std::int64_t width : {2, 2, 3, 2}) {
    list->add(width, 2);
  }
  EXPECT_EQ(list->repr(),
            "ModuleList(\n"
            "  (0-1): 2 x Linear(in_features=2, out_features=2, bias=True)\n"
            "  (2): Linear(in_features=3, out_features=2, bias=True)\n"
            "  (3): Linear(in_features=2, out_features=2, bias=True)\n)");
}

TEST(L2, a_run_of_children_with_lines_of_their_own_is_indented) {
  const auto list = make<ModuleList<Sequential>>();
  for (int i = 0; i < 2; ++i) {
    list->add();
    (*list)[static_cast<std::size_t>(i)]->add<Linear>(2, 3);
  }
  EXPECT_EQ(list->repr(),
            "ModuleList(\n  (0-1): 2 x Sequential(\n"
            "    (0): Linear(in_features=2, out_features=3, bias=True)\n  )\n)");
}

TEST(L2, shared_children_are_printed_each_time_and_lines_of_their_own_come_first) {
  struct Described : Module {
    std::string extra_repr() const override { return "depth=1"; }
  };
  const auto model = make<Described>();
  const auto shared = model->add_module("a", make<Leaf>());
  model->add_module("b", shared);
  EXPECT_EQ(model->repr(), "Described(\n  depth=1\n  (a): Leaf()\n  (b): Leaf()\n)");
}

struct Wordy : Module {
  std::string extra_repr() const override { return "one\ntwo"; }
};

TEST(L1, several_extra_lines_stand_below_each_other) {
  EXPECT_EQ(make<Wordy>()->repr(), "Wordy(\n  one\n  two\n)");
}

TEST(F1, a_module_without_forward_says_so) {
  const auto model = make<Wordy>();
  EXPECT_EQ(error_of<NotImplementedError>([&] { static_cast<void>((*model)(ones({1}))); }),
            "Wordy does not implement forward");
}

}  // namespace
}  // namespace tessera::nn::contract
