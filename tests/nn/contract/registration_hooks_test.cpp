// Rows C1 to C3, C9, D1, D2 and H11: hooks on registration, and registrations that fail.
#include <gtest/gtest.h>

#include <tessera/nn/tree/registration_hooks.h>

#include "models.h"
#include "support/error_of.h"

namespace tessera::nn::contract {
namespace {

using testing_support::error_of;

TEST(H11, a_hook_that_gives_a_buffer_for_a_parameter_is_refused) {
  const ScopedHandle hook =
      register_parameter_registration_hook([](Module&, std::string_view, const Parameter&) {
        return std::optional(Parameter(make_buffer_slot("", ones({3}), true)));
      });
  EXPECT_EQ(error_of<TypeError>([] { make<Scale>(); }),
            "parameter name \"factor\": a registration hook gave a buffer");
}

TEST(H11, hooks_replace_buffers_and_modules_each_seeing_what_the_one_before_left) {
  const auto add_one = [](Module&, std::string_view, const Buffer& given) {
    return std::optional(Buffer(make_buffer_slot("", given.value() + 1.0, true)));
  };
  const ScopedHandle first = register_buffer_registration_hook(add_one);
  const ScopedHandle second = register_buffer_registration_hook(add_one);
  const ScopedHandle modules = register_module_registration_hook(
      [](Module& owner, std::string_view, const ModulePtr&) -> std::optional<ModulePtr> {
        return owner.class_name() == "Outer" ? std::optional<ModulePtr>(nullptr) : std::nullopt;
      });
  const auto inner = make<Inner>();
  EXPECT_EQ(inner->offset.value().to_vector<float>(), (std::vector<float>{3, 3, 3}));
  EXPECT_EQ(make<Outer>()->repr(), "Outer(\n  (inner): None\n  (last): None\n)");
}

TEST(H11, members_and_replacements_by_path_are_registrations) {
  std::string seen;
  {
    const ScopedHandle parameters = register_parameter_registration_hook(
        [&](Module& owner, std::string_view name, const Parameter&) -> std::optional<Parameter> {
          seen.append(owner.class_name()).append(".").append(name).append(" ");
          return std::nullopt;
        });
    const ScopedHandle modules =
        register_module_registration_hook([&](Module& owner, std::string_view name,
                                              const ModulePtr& given) -> std::optional<ModulePtr> {
          seen.append(owner.class_name()).append(given == nullptr ? " empties " : " gets ");
          seen.append(name).append(" ");
          return std::nullopt;
        });
    const auto model = make<Inner>();
    model->set_submodule("scale", make<Negative>());
    model->set("scale", nullptr);
    model->erase("scale");
  }
  EXPECT_EQ(seen,
            "Scale.factor Inner gets scale Negative.factor Inner gets scale Inner empties scale ");
  make<Inner>();
  EXPECT_TRUE(seen.ends_with("empties scale ")) << "the hooks are gone";
}

TEST(C1, a_refused_parameter_leaves_its_name_free) {
  const auto model = make<Leaf>();
  const Tensor leaf = ones({2}).set_requires_grad(true);
  EXPECT_THROW(model->register_parameter("weight", leaf * 2.0), ValueError);
  EXPECT_THROW(model->register_parameter("weight", zeros({2}, {.dtype = DType::i64})),
               InvalidArgument);
  EXPECT_EQ(error_of<TypeError>([&] { model->register_parameter("weight", Tensor()); }),
            "parameter \"weight\": not a tensor; nullptr reserves the name");
  model->register_buffer("weight", ones({2}));
  EXPECT_EQ(names_of(model->named_buffers()), "weight ");
}

TEST(C1, a_refused_parameter_leaves_the_one_that_was_there) {
  const auto model = make<Scale>();
  const Tensor before = model->factor;
  const Tensor leaf = ones({3}).set_requires_grad(true);
  EXPECT_THROW(model->register_parameter("factor", leaf * 2.0), ValueError);
  EXPECT_TRUE(before.is(model->factor));
}

TEST(C2, an_undefined_tensor_is_no_buffer) {
  const auto model = make<Leaf>();
  EXPECT_EQ(error_of<TypeError>([&] { model->register_buffer("mean", Tensor()); }),
            "buffer \"mean\": not a tensor; nullptr reserves the name");
  EXPECT_NO_THROW(model->register_parameter("mean", ones({1})));
}

TEST(C3, a_refused_module_leaves_its_name_free) {
  const auto model = make<Outer>();
  EXPECT_THROW(model->inner->add_module("back", model), ValueError);
  EXPECT_EQ(names_of(model->inner->named_children()), "scale ");
  EXPECT_NO_THROW(model->inner->register_buffer("back", ones({1})));
  EXPECT_THROW(model->inner->add_module("offset", make<Leaf>()), KeyError);
}

TEST(C9, a_hook_that_throws_leaves_the_name_free) {
  const auto model = make<Leaf>();
  {
    const ScopedHandle refusing = register_module_registration_hook(
        [](Module&, std::string_view, const ModulePtr&) -> std::optional<ModulePtr> {
          fail<RuntimeError>("no modules today");
        });
    EXPECT_THROW(model->add_module("child", make<Leaf>()), RuntimeError);
  }
  EXPECT_EQ(model->repr(), "Leaf()");
}

TEST(D1, a_path_that_ends_in_a_dot_misses_its_last_step) {
  const auto model = make<Outer>();
  EXPECT_EQ(error_of<AttributeError>([&] { static_cast<void>(model->get_submodule("inner.")); }),
            "Inner has no module \"\" (in path \"inner.\")");
  EXPECT_THROW(static_cast<void>(model->get_submodule(".inner")), AttributeError);
  EXPECT_THROW(static_cast<void>(model->get_submodule("inner..scale")), AttributeError);
  EXPECT_THROW(static_cast<void>(model->get_parameter("last.")), AttributeError);
}

TEST(D1, a_reserved_name_is_no_module) {
  const auto model = make<Outer>();
  model->set("last", nullptr);
  EXPECT_EQ(error_of<AttributeError>([&] { static_cast<void>(model->get_submodule("last")); }),
            "\"last\" in Outer is a reserved name, not a module");
}

TEST(D2, a_reserved_name_is_nothing_to_replace) {
  const auto model = make<Outer>();
  model->set("last", nullptr);
  for (const bool strict : {false, true}) {
    EXPECT_EQ(
        error_of<AttributeError>([&] { model->set_submodule("last", make<Scale>(), strict); }),
        "\"last\" in Outer is a reserved name, not a module");
  }
  model->register_module("last", make<Negative>());
  EXPECT_EQ(model(ones({3})).to_vector<float>(), (std::vector<float>{-3, -3, -3}));
}

TEST(D2, a_cycle_is_refused) {
  const auto model = make<Outer>();
  EXPECT_THROW(model->set_submodule("inner.back", model), ValueError);
  EXPECT_EQ(names_of(model->inner->named_children()), "scale ");
}

}  // namespace
}  // namespace tessera::nn::contract
