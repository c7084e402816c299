// Rows D1 to D5 and P-5: finding and replacing by path, and places in the tree.
#include <gtest/gtest.h>

#include "models.h"
#include "support/error_of.h"

namespace tessera::nn::contract {
namespace {

using testing_support::error_of;

TEST(D1, get_submodule_walks_the_path) {
  const auto model = make<Outer>();
  EXPECT_EQ(&model->get_submodule("inner.scale"), &*model->inner->scale);
  EXPECT_EQ(&model->get_submodule(""), model.get());
  EXPECT_EQ(error_of<AttributeError>([&] { static_cast<void>(model->get_submodule("inner.x.y")); }),
            "Inner has no module \"x\" (in path \"inner.x.y\")");
  EXPECT_EQ(
      error_of<AttributeError>([&] { static_cast<void>(model->get_submodule("inner.offset")); }),
      "\"offset\" in Inner is a buffer, not a module");
}

TEST(D2, set_submodule_replaces_a_member_with_its_own_forward) {
  const auto model = make<Outer>();
  model->set_submodule("inner.scale", make<Negative>());
  EXPECT_EQ(model(ones({3})).to_vector<float>(), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(model->inner->scale.ptr()->class_name(), "Negative");
  EXPECT_EQ(detail::key(model->get_submodule("inner.scale")), "scale");
}

TEST(D2, set_submodule_checks_the_type_of_a_member) {
  struct TwoArguments : Scale {
    Tensor forward(const Tensor& x, const Tensor& y) const { return x + y; }
  };
  const auto model = make<Outer>();
  EXPECT_EQ(error_of<TypeError>([&] { model->set_submodule("inner.scale", make<Leaf>()); }),
            "module name \"scale\": Inner holds a Scale there, and a Leaf cannot take its place");
  EXPECT_THROW(model->set_submodule("last", make<TwoArguments>()), TypeError);
  EXPECT_EQ(model->last->class_name(), "Scale");
}

TEST(D2, set_submodule_creates_only_the_last_step) {
  const auto model = make<Outer>();
  model->set_submodule("inner.extra", make<Leaf>());
  EXPECT_EQ(names_of(model->inner->named_children()), "scale extra ");
  EXPECT_THROW(model->set_submodule("none.extra", make<Leaf>()), AttributeError);
  EXPECT_EQ(
      error_of<AttributeError>([&] { model->set_submodule("inner.more", make<Leaf>(), true); }),
      "Inner has no module \"more\" (in path \"inner.more\")");
  EXPECT_THROW(model->set_submodule("", make<Leaf>()), ValueError);
  EXPECT_THROW(model->set_submodule("inner", nullptr), ValueError);
  EXPECT_EQ(error_of<AttributeError>([&] { model->set_submodule("inner.offset", make<Leaf>()); }),
            "\"offset\" in Inner is a buffer, not a module");
  EXPECT_THROW(model->set_submodule("inner.a/b", make<Leaf>()), KeyError);
}

TEST(P_5, set_submodule_replaces_creates_and_refuses) {
  const auto model = make<Sequential>();
  model->add<Scale>();
  model->set_submodule("0", make<Leaf>(), true);
  EXPECT_EQ(model(full({3}, 5)).to_vector<float>(), (std::vector<float>{5, 5, 5}));
  model->set_submodule("1", make<Scale>());
  EXPECT_EQ(model(full({3}, 5)).to_vector<float>(), (std::vector<float>{10, 10, 10}));
  EXPECT_THROW(model->set_submodule("2", make<Scale>(), true), AttributeError);
}

TEST(D3, get_parameter_splits_at_the_last_dot) {
  const auto model = make<Outer>();
  EXPECT_EQ(model->get_parameter("inner.scale.factor").slot(), model->inner->scale->factor.slot());
  EXPECT_THROW(static_cast<void>(model->get_parameter("inner.scale.none")), AttributeError);
  EXPECT_EQ(
      error_of<AttributeError>([&] { static_cast<void>(model->get_parameter("inner.offset")); }),
      "\"offset\" in Inner is a buffer, not a parameter");
  model->register_parameter("reserved", nullptr);
  EXPECT_EQ(error_of<AttributeError>([&] { static_cast<void>(model->get_parameter("reserved")); }),
            "\"reserved\" in Outer is a reserved name, not a parameter");
}

TEST(D4, get_buffer_gives_an_empty_name_as_nothing) {
  const auto model = make<Outer>();
  model->register_buffer("empty", nullptr);
  EXPECT_TRUE(model->get_buffer("inner.offset")->is(model->inner->offset));
  EXPECT_FALSE(model->get_buffer("empty").has_value());
  EXPECT_THROW(static_cast<void>(model->get_buffer("inner.none")), AttributeError);
  EXPECT_THROW(static_cast<void>(model->get_buffer("last.factor")), AttributeError);
}

TEST(I_13, a_fixed_tree_gives_fixed_numbers) {
  const auto model = make<Outer>();
  const Module& scale = *model->inner->scale;
  EXPECT_EQ(model->mod_depth(), 0);
  EXPECT_EQ(scale.mod_depth(), 2);
  EXPECT_EQ(model->mod_height(), 2);
  EXPECT_EQ(scale.mod_height(), 0);
  EXPECT_EQ(&scale.top_mod(), model.get());
  EXPECT_EQ(&scale.top_mod(1), &*model->inner);
  EXPECT_EQ(&scale.top_mod(9), model.get());
  EXPECT_EQ(scale.get_mod_key(), "inner.scale");
  EXPECT_EQ(scale.get_mod_key(&*model->inner), "scale");
  EXPECT_EQ(model->get_mod_key(), "");
  EXPECT_THROW(static_cast<void>(scale.get_mod_key(&*model->last)), ValueError);
}

TEST(D5, a_child_outlives_its_parent_as_a_root) {
  auto model = make<Outer>();
  const auto inner = model->inner.ptr();
  model.reset();
  EXPECT_EQ(inner->mod_depth(), 0);
  EXPECT_EQ(detail::key(*inner), "");
}

TEST(D2, a_replacement_whose_own_forward_is_not_known_is_refused) {
  const auto model = make<Outer>();
  EXPECT_THROW(model->set_submodule("inner.scale", std::make_shared<Negative>()), TypeError);
  model->set_submodule("inner.scale", std::make_shared<Scale>(3));
  struct Holder : Module {
    Ptr<Scale> exact = std::make_shared<Scale>(3);
    Ptr<Scale> derived = std::make_shared<Negative>();
    Holder() {
      register_module("exact", static_cast<std::shared_ptr<Scale>>(exact));
      register_module("derived", static_cast<std::shared_ptr<Scale>>(derived));
    }
  };
  const auto holder = make<Holder>();
  EXPECT_EQ(holder->exact(ones({3})).to_vector<float>(), (std::vector<float>{2, 2, 2}));
  EXPECT_EQ(error_of<TypeError>([&] { holder->derived(ones({3})); }),
            "Negative: is called as Scale, and its own forward is not known; construct it with "
            "nn::make or as a Child, in module derived");
}

TEST(D5, a_shared_child_stands_below_the_next_parent_when_the_first_lets_go) {
  struct Two : Module {
    Child<Inner> first{this, "first"};
    Child<Inner> second{this, "second"};
    Two() { second->set_submodule("scale", first->scale.ptr()); }
  };
  const auto model = make<Two>();
  const ModulePtr shared = model->first->scale.ptr();
  EXPECT_EQ(shared->get_mod_key(), "first.scale");
  model->first->set("scale", nullptr);
  EXPECT_EQ(shared->get_mod_key(), "second.scale");
  EXPECT_EQ(shared->mod_depth(), 2);
  EXPECT_EQ(&shared->top_mod(), model.get());
  model->erase("second");
  EXPECT_EQ(shared->mod_depth(), 0);
}

}  // namespace
}  // namespace tessera::nn::contract
