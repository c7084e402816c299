// Rows M1 to M4, O-3, D5, C6 and `clone`: modules as data.
#include <gtest/gtest.h>

#include <memory>

#include <tessera/core/tensor/modes.h>
#include <tessera/nn/functional/pure.h>
#include <tessera/nn/layers/module_list.h>
#include <tessera/nn/state/tree_def.h>
#include <tessera/nn/tree/named_list.h>
#include <tessera/nn/tree/sub_mods.h>

#include "models.h"
#include "support/error_of.h"
#include "support/values.h"

namespace tessera::nn::contract {
namespace {

using testing_support::error_of;
using testing_support::values;

/// Members of every sort: children in a list and in a Sequential, ties, a shared child, settings.
struct Everything : Module {
  explicit Everything(int depth) : depth_(depth) {
    for (int i = 0; i < depth; ++i) {
      list->add();
    }
    stack->add<Scale>(3);
    last->factor.tie((*list)[0]->factor);
    register_module("again", first.ptr());
  }
  Child<ModuleList<Scale>> list{this, "list"};
  Child<Sequential> stack{this, "stack"};
  Child<Scale> first{this, "first"};
  Child<Scale> last{this, "last"};
  Buffer offset{this, "offset", ones({3})};
  Parameter none = register_parameter("none", nullptr);

  Tensor forward(const Tensor& x) const {
    Tensor y = x;
    for (const auto& scale : *list) {
      y = scale(y);
    }
    return last(first(stack(y))) + offset;
  }
  [[nodiscard]] std::string extra_repr() const override {
    return "depth=" + std::to_string(depth_);
  }

 private:
  int depth_;
};

struct Uncopied : Module {
  std::unique_ptr<int> owned;
};
struct HoldsUncopied : Module {
  Child<Uncopied> child{this, "child"};
};

TEST(Clone, has_its_own_memory_and_the_same_ties) {
  const auto model = make<Everything>(2);
  const auto copy = clone(model);
  EXPECT_EQ(copy->repr(), model->repr());
  EXPECT_EQ(values(copy(ones({3}))), values(model(ones({3}))));
  EXPECT_NE(copy->first->factor.slot(), model->first->factor.slot());
  EXPECT_EQ(copy->last->factor.slot(), (*copy->list)[0]->factor.slot());
  EXPECT_EQ(copy->get_submodule("again").get_mod_key(), "first");
  EXPECT_EQ(&copy->get_submodule("again"), &*copy->first);
  EXPECT_FALSE(copy->none.defined());
  const Tensor before = copy(ones({3}));
  {
    const NoGradGuard no_grad;
    model->first->factor.slot()->value.copy_(zeros({3}));
  }
  model->offset.assign(zeros({3}));
  EXPECT_EQ(values(copy(ones({3}))), values(before));
}

TEST(Clone, keeps_modes_and_no_hooks) {
  const auto model = make<Everything>(1);
  model->first->eval();
  model->first->requires_grad_(false);
  int calls = 0;
  model->register_forward_hook([&](const Module&, const Args&, const Value&) { ++calls; });
  const auto copy = clone(model);
  EXPECT_FALSE(copy->first->training());
  EXPECT_TRUE(copy->training());
  EXPECT_FALSE(copy->first->factor.value().requires_grad());
  EXPECT_TRUE((*copy->list)[0]->factor.value().requires_grad());
  copy(ones({3}));
  EXPECT_EQ(calls, 0);
}

TEST(Clone, a_class_that_cannot_be_copied_is_named) {
  const auto model = make<HoldsUncopied>();
  EXPECT_EQ(error_of<Unsupported>([&] { static_cast<void>(model->clone()); }),
            "Uncopied: cannot be copied; it has no copy constructor");
  EXPECT_EQ(error_of<RuntimeError>([] {
              const auto scale = make<Scale>();
              const Scale copy(*scale);
            }),
            "Scale: modules are copied with clone()");
}

TEST(M1, flatten_gives_every_slot_once_in_order) {
  const auto model = make<Everything>(2);
  const auto [leaves, definition] = model->flatten();
  ASSERT_EQ(leaves.size(), 5U);  // offset, list.0, list.1, stack.0, first; last and again are known
  EXPECT_EQ(leaves.size(), definition.leaf_count());
  EXPECT_TRUE(leaves[1].shares_storage((*model->list)[0]->factor.value()));
  EXPECT_FALSE(leaves[1].requires_grad());
  for (const auto& [name, slot] : definition.prototype().named_slots()) {
    EXPECT_FALSE(slot->value.defined()) << name;
  }
}

TEST(O_3, unflatten_inverts_flatten) {
  const auto model = make<Everything>(2);
  const auto [leaves, definition] = model->flatten();
  const ModulePtr copy = Module::unflatten(definition, leaves);
  EXPECT_EQ(values((*copy)(ones({3}))), values(model(ones({3}))));
  EXPECT_TRUE(copy->flatten().second == definition);
  EXPECT_TRUE(copy->get_parameter("first.factor").value().requires_grad());
  EXPECT_EQ(copy->get_parameter("last.factor").slot(), copy->get_parameter("list.0.factor").slot());
}

TEST(M2, placeholders_are_leaves_too) {
  const auto [leaves, definition] = make<Inner>()->flatten();
  const ModulePtr partly = Module::unflatten(definition, {{Tensor(), ones({3})}});
  EXPECT_FALSE(partly->named_slots()[0].second->value.defined());
  EXPECT_EQ(
      error_of<StructureError>([&, d = definition] {
        static_cast<void>(Module::unflatten(d, leaves.empty() ? leaves : std::vector<Tensor>{}));
      }),
      "unflatten: got 0 leaves, expected 2");
}

namespace elsewhere {

struct Linear : Module {
  Parameter weight{this, "weight", {3, 2}, init::constant(0)};
  Parameter bias{this, "bias", {3}, init::constant(0)};
  [[nodiscard]] std::string extra_repr() const override {
    return "in_features=2, out_features=3, bias=True";
  }
};

}  // namespace elsewhere

TEST(M4, definitions_are_equal_when_structures_are) {
  const auto of = [](const Module& module) { return module.flatten().second; };
  EXPECT_TRUE(of(*make<Everything>(2)) == of(*make<Everything>(2)));
  EXPECT_FALSE(of(*make<Everything>(2)) == of(*make<Everything>(3)));
  const auto eval = make<Everything>(2);
  eval->first->eval();
  EXPECT_FALSE(of(*eval) == of(*make<Everything>(2)));
  EXPECT_FALSE(of(*make<Linear>(2, 3)) == of(*make<elsewhere::Linear>())) << "of one name";
  const auto untied = make<Outer>();
  const auto tied = make<Outer>();
  tied->last->factor.tie(tied->inner->scale->factor);
  EXPECT_FALSE(of(*untied) == of(*tied));
}

TEST(D5, sub_mods_and_top_v) {
  const auto model = make<Outer>();
  const SubMods all = model->sub_mods();
  EXPECT_EQ(names_of(all.children), "inner last ");
  EXPECT_EQ(names_of(all.children.at("inner").children.at("scale").v.leaves()), "factor ");
  const SubMods shallow = model->sub_mods({.depth = 1});
  EXPECT_TRUE(shallow.children.at("inner").children.empty());
  EXPECT_EQ(names_of(shallow.children.at("inner").v.leaves()), "scale.factor ");
  EXPECT_EQ(names_of(model->sub_mods({.show_v = false, .flatten_key_chains = true}).children),
            "inner.scale last ");
  EXPECT_EQ(names_of(model->inner->scale->top_v().leaves()), "inner.scale.factor last.factor ");
  EXPECT_EQ(names_of(model->inner->scale->top_v(1).leaves()), "scale.factor ");
}

TEST(C6, lists_under_ivys_names) {
  const auto model = make<Leaf>();
  named_list(*model, "layers", {{make<Scale>(), make<Scale>()}});
  EXPECT_EQ(names_of(model->named_parameters()), "layers.v0.factor layers.v1.factor ");
}

}  // namespace
}  // namespace tessera::nn::contract
