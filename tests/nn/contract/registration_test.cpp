// Rows C1 to C5, C9 and C10: names and what is put behind them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/nn/tree/registration_hooks.h>

#include "models.h"
#include "support/error_of.h"

namespace tessera::nn::contract {
namespace {

using testing::HasSubstr;
using testing_support::error_of;

TEST(C1, register_parameter_adds_in_order_and_replaces_in_place) {
  const auto model = make<Outer>();
  model->register_parameter("first", ones({2}));
  model->register_parameter("second", ones({2}));
  const Tensor now = zeros({4});
  model->register_parameter("first", now);
  EXPECT_EQ(names_of(model->named_parameters({.recurse = false})), "first second ");
  EXPECT_TRUE(model->get_parameter("first").value().is(now));
  EXPECT_TRUE(now.requires_grad());
}

TEST(C1, replacing_a_declared_parameter_reaches_the_member) {
  const auto model = make<Scale>();
  model->register_parameter("factor", full({3}, 7));
  EXPECT_EQ(model(ones({3})).to_vector<float>(), (std::vector<float>{7, 7, 7}));
}

TEST(C1, null_reserves_the_name) {
  const auto model = make<Leaf>();
  model->register_parameter("weight", nullptr);
  EXPECT_TRUE(model->named_parameters().empty());
  EXPECT_TRUE(model->state_dict().empty());
  model->to(DType::f64);
  EXPECT_THROW(model->register_buffer("weight", ones({1})), KeyError);
  model->register_parameter("weight", ones({1}));
  EXPECT_EQ(names_of(model->named_parameters()), "weight ");
}

TEST(C1, a_tensor_with_history_is_refused) {
  const auto model = make<Leaf>();
  const Tensor leaf = ones({2}).set_requires_grad(true);
  const auto text = error_of<ValueError>([&] { model->register_parameter("weight", leaf * 2.0); });
  EXPECT_EQ(text, "parameter \"weight\": has autograd history; register a leaf");
}

TEST(C1, of_several_errors_the_first_is_said) {
  const auto model = make<Inner>();
  const Tensor history = ones({2}).set_requires_grad(true) * 2.0;
  const auto text = [&](const std::string& name, const Tensor& value) {
    return error_of<Error>([&] { model->register_parameter(name, value); });
  };
  EXPECT_EQ(text("", history), "parameter name \"\": must not be empty");
  EXPECT_EQ(text("a.b/c", Tensor()), "parameter name \"a.b/c\": must not contain '.'");
  EXPECT_EQ(text("a/b", history), "parameter name \"a/b\": must not contain '/'");
  EXPECT_EQ(text("offset", history),
            "parameter name \"offset\": already used by a buffer of Inner");
  EXPECT_EQ(text("scale", Tensor()), "parameter name \"scale\": already used by a module of Inner");
  EXPECT_EQ(text("new", Tensor()), "parameter \"new\": not a tensor; nullptr reserves the name");
  EXPECT_EQ(names_of(model->named_parameters({.recurse = false})), "");
}

TEST(C1, a_frozen_parameter_may_be_of_integers) {
  const auto model = make<Leaf>();
  const Tensor ids = zeros({2}, {.dtype = DType::i64});
  EXPECT_THROW(model->register_parameter("ids", ids), InvalidArgument);
  const Parameter frozen = model->register_parameter("ids", ids, false);
  EXPECT_FALSE(frozen.value().requires_grad());
}

TEST(C2, register_buffer_persistent_or_not) {
  const auto model = make<Leaf>();
  model->register_buffer("kept", ones({1}));
  model->register_buffer("passing", ones({1}), false);
  model->register_buffer("empty", nullptr);
  EXPECT_EQ(names_of(model->named_buffers()), "kept passing ");
  EXPECT_EQ(names_of(model->state_dict()), "kept ");
  model->register_buffer("passing", ones({1}));
  EXPECT_EQ(names_of(model->state_dict()), "kept passing ");
}

TEST(C3, add_module_under_a_name_or_reserve_it) {
  const auto model = make<Leaf>();
  const auto child = model->add_module("child", make<Scale>());
  model->register_module("nobody", nullptr);
  EXPECT_EQ(names_of(model->named_children()), "child ");
  EXPECT_EQ(child.get(), &model->get_submodule("child"));
  EXPECT_THROW(model->register_buffer("nobody", ones({1})), KeyError);
}

TEST(C3, a_cycle_is_refused) {
  const auto model = make<Outer>();
  const auto text = error_of<ValueError>([&] { model->inner->add_module("back", model); });
  EXPECT_EQ(text, "module name \"back\": the Outer holds this Inner itself");
}

TEST(C4, members_register_themselves_in_the_order_of_declaration) {
  const auto model = make<Outer>();
  EXPECT_EQ(names_of(model->named_children()), "inner last ");
  EXPECT_EQ(names_of(model->named_slots()), "inner.offset inner.scale.factor last.factor ");
}

TEST(C4, a_name_does_not_change_its_kind_unless_erased) {
  const auto model = make<Inner>();
  EXPECT_EQ(error_of<KeyError>([&] { model->register_parameter("offset", ones({3})); }),
            "parameter name \"offset\": already used by a buffer of Inner");
  model->erase("offset");
  model->register_parameter("offset", ones({3}));
  EXPECT_EQ(names_of(model->named_parameters()), "offset scale.factor ");
}

TEST(C4, null_empties_a_registered_name) {
  const auto model = make<Outer>();
  model->set("last", nullptr);
  EXPECT_EQ(names_of(model->named_children()), "inner ");
  EXPECT_EQ(error_of<AttributeError>([&] { model(ones({3})); }),
            "module \"last\": the name holds no module");
  EXPECT_EQ(error_of<AttributeError>([&] { model->set("other", nullptr); }),
            "Outer has no parameter, buffer or module \"other\"");
}

TEST(C4, handles_on_an_emptied_name_say_so) {
  const auto model = make<Inner>();
  const auto scale = model->scale.ptr();
  scale->set("factor", nullptr);
  const std::string expected = "parameter \"factor\": the name holds no parameter";
  EXPECT_EQ(error_of<AttributeError>([&] { static_cast<void>(scale->factor.shape()); }), expected);
  EXPECT_EQ(error_of<AttributeError>([&] { static_cast<void>(scale->factor.grad()); }), expected);
  EXPECT_EQ(error_of<AttributeError>([&] { static_cast<void>(scale->factor.name()); }), expected);
  EXPECT_EQ(error_of<AttributeError>([&] { static_cast<void>(scale->factor.value()); }), expected);
  EXPECT_FALSE(scale->factor.defined());
  model->set("offset", nullptr);
  EXPECT_EQ(error_of<AttributeError>([&] { model->offset.assign(ones({3})); }),
            "buffer \"offset\": the name holds no buffer");
  EXPECT_EQ(error_of<AttributeError>([&] { static_cast<void>(model->offset.value()); }),
            "buffer \"offset\": the name holds no buffer");
  EXPECT_EQ(error_of<AttributeError>([] { static_cast<void>(Parameter().shape()); }),
            "parameter: no module has declared it");
}

TEST(C5, erase_frees_a_name_of_any_kind) {
  const auto model = make<Inner>();
  model->erase("offset");
  model->erase("scale");
  EXPECT_TRUE(model->named_slots().empty());
  EXPECT_TRUE(model->children().empty());
  EXPECT_THROW(model->erase("scale"), AttributeError);
}

TEST(C9, registration_hooks_may_replace_what_is_registered) {
  const auto other = make<Leaf>();
  other->register_parameter("larger", zeros({2}));
  std::string seen;
  const ScopedHandle parameters = register_parameter_registration_hook(
      [&](Module&, std::string_view name, const Parameter& given) -> std::optional<Parameter> {
        seen.append(name).append(" ");
        return given.shape() == Shape{1} ? std::optional(other->get_parameter("larger"))
                                         : std::nullopt;
      });
  const ScopedHandle buffers = register_buffer_registration_hook(
      [&](Module&, std::string_view name, const Buffer& given) -> std::optional<Buffer> {
        seen.append(given.defined() ? "buffer " : "empty ").append(name).append(" ");
        return std::nullopt;
      });
  const ScopedHandle modules = register_module_registration_hook([&](Module& owner,
                                                                     std::string_view name,
                                                                     const ModulePtr& given)
                                                                     -> std::optional<ModulePtr> {
    seen.append(owner.class_name()).append(given == nullptr ? " empty " : " gets ").append(name);
    return std::nullopt;
  });
  const auto model = make<Leaf>();
  model->register_parameter("a", ones({1}));
  model->register_parameter("b", nullptr);
  model->register_buffer("c", nullptr);
  model->register_module("d", nullptr);
  EXPECT_EQ(seen, "a empty c Leaf empty d");
  EXPECT_EQ(model->get_parameter("a").shape(), Shape{2});
}

TEST(C10, bad_names_are_said_with_their_reason) {
  const auto model = make<Leaf>();
  const auto text = [&](const std::string& name) {
    return error_of<KeyError>([&] { model->register_buffer(name, ones({1})); });
  };
  EXPECT_EQ(text(""), "buffer name \"\": must not be empty");
  EXPECT_EQ(text("a.b"), "buffer name \"a.b\": must not contain '.'");
  EXPECT_EQ(text("a/b"), "buffer name \"a/b\": must not contain '/'");
  EXPECT_THAT(text("_extra_state"), HasSubstr("_extra_state"));
  EXPECT_TRUE(model->named_slots().empty());
}

TEST(C10, a_member_declared_twice_is_refused) {
  struct Twice : Module {
    Child<Scale> a{this, "a", 1};
    Child<Scale> b{this, "a", 1};
  };
  EXPECT_EQ(error_of<KeyError>([] { make<Twice>(); }),
            "module name \"a\": already used by a module of Twice");
  struct Both : Module {
    Parameter a{this, "a", {1}, init::ones()};
    Parameter b{this, "a", {2}, init::ones()};
  };
  EXPECT_EQ(error_of<KeyError>([] { make<Both>(); }),
            "parameter name \"a\": already used by a parameter of Both");
}

TEST(H12, a_handle_removes_once_and_outlives_its_module) {
  auto model = make<Leaf>();
  int calls = 0;
  const auto count = [&](const Module&, const Args&, const Value&) { ++calls; };
  const RemovableHandle first = model->register_forward_hook(count);
  const RemovableHandle second = model->register_forward_hook(count);
  EXPECT_GT(second.id(), first.id());
  model(ones({1}));
  first.remove();
  first.remove();
  model(ones({1}));
  { const ScopedHandle scoped = second; }
  model(ones({1}));
  EXPECT_EQ(calls, 3);
  const RemovableHandle third = model->register_forward_hook(count);
  model.reset();
  third.remove();
}

}  // namespace
}  // namespace tessera::nn::contract
