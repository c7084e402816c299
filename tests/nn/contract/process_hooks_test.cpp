// Rows H2 to H5, H10, X34 and X43: hooks of the process, and of modules in their corners.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/base/log.h>
#include <tessera/core/ops/sum.h>
#include <tessera/nn/hooks/global_hooks.h>

#include "hook_models.h"
#include "support/error_of.h"
#include "support/values.h"

namespace tessera::nn::contract {
namespace {

using testing::HasSubstr;
using testing_support::error_of;
using testing_support::values;

/// A tensor and a number.
struct WithNumber : Scale {
  std::pair<Tensor, double> forward(const Tensor& x) const { return {x * factor, 1.5}; }
};

TEST(H10, hooks_of_the_process_see_every_module) {
  const auto model = make<Outer>();
  std::string order;
  const auto note = [&order](const char* what, const Module& m) {
    order.append(what).append(m.class_name()).append(" ");
  };
  {
    const ScopedHandle pre = global_hooks::register_forward_pre(
        [&](const Module& m, const Args&, const Kwargs&) { note("pre-", m); });
    const ScopedHandle post = global_hooks::register_forward(
        [&](const Module& m, const Args&, const Kwargs&, const Value&) { note("post-", m); });
    const ScopedHandle backward_pre = global_hooks::register_full_backward_pre(
        [&](const Module& m, const Grads&) { note("gradient-pre-", m); });
    const ScopedHandle backward = global_hooks::register_full_backward(
        [&](const Module& m, const Grads&, const Grads&) { note("gradient-", m); });
    model->inner->scale(input3()).backward(ones({3}));
    EXPECT_EQ(order, "pre-Scale post-Scale gradient-pre-Scale gradient-Scale ");
    order.clear();
    static_cast<void>(model(ones({3})));
    EXPECT_EQ(order,
              "pre-Outer pre-Inner pre-Scale post-Scale post-Inner pre-Scale post-Scale "
              "post-Outer ");
  }
  order.clear();
  model(input3()).backward(ones({3}));
  EXPECT_EQ(order, "");
}

TEST(H10, they_come_before_own_backward_hooks) {
  const auto model = make<Scale>();
  std::string order;
  model->register_full_backward_pre_hook([&](const Module&, const Grads&) { order += "own-pre "; },
                                         {.prepend = true});
  model->register_full_backward_hook(
      [&](const Module&, const Grads&, const Grads&) { order += "own "; }, {.prepend = true});
  const ScopedHandle pre =
      global_hooks::register_full_backward_pre([&](const Module&, const Grads& g) {
        order += "process-pre ";
        return Grads{g[0] * 10.0};
      });
  const ScopedHandle full = global_hooks::register_full_backward(
      [&](const Module&, const Grads&, const Grads&) { order += "process "; });
  const Tensor x = input3();
  model(x).backward(ones({3}));
  EXPECT_EQ(order, "process-pre own-pre process own ");
  EXPECT_EQ(values(x.grad()), (std::vector<float>{20, 20, 20}));
}

TEST(H2, hooks_that_are_always_called_run_globals_first_with_the_output_so_far) {
  const auto model = make<Leaf>();
  std::string order;
  const LogSinkScope silent([](LogLevel, std::string_view) {});
  const auto note = [&order](const char* who) {
    return [&order, who](const Module&, const Args&, const Value& output) {
      order.append(who).append(output.empty() ? "(nothing) " : "(output) ");
    };
  };
  const ScopedHandle process =
      global_hooks::register_forward(note("process"), {.always_call = true});
  EXPECT_THROW(make<FailingForward>()(ones({1})), std::runtime_error);
  EXPECT_EQ(order, "process(nothing) ");
  order.clear();
  model->register_forward_hook([](const Module&, const Args&, const Value&) -> Tensor {
    throw std::runtime_error("a hook failed");
  });
  model->register_forward_hook(note("own"), {.always_call = true});
  EXPECT_EQ(error_of<std::runtime_error>([&] { model(ones({1})); }), "a hook failed");
  EXPECT_EQ(order, "process(output) own(output) ");
  order.clear();
  model->register_forward_pre_hook([](const Module&, const Args&) { fail<ValueError>("early"); });
  EXPECT_EQ(error_of<ValueError>([&] { model(ones({1})); }), "early");
  EXPECT_EQ(order, "process(nothing) own(nothing) ");
}

TEST(H1, a_hook_with_kwargs_must_return_both) {
  const auto model = make<Scale>();
  const std::string expected = "forward pre-hook with kwargs must return (args, kwargs)";
  RemovableHandle handle = model->register_forward_pre_hook(
      [](const Module&, const Args& args, const Kwargs&) { return args[0].tensor(); });
  EXPECT_EQ(error_of<RuntimeError>([&] { model(ones({3})); }), expected);
  handle.remove();
  handle = model->register_forward_pre_hook(
      [](const Module&, const Args& args, const Kwargs&) { return Value(args); });
  EXPECT_EQ(error_of<RuntimeError>([&] { model(ones({3})); }), expected);
  handle.remove();
  model->register_forward_pre_hook([](const Module&, const Args&, const Kwargs& kwargs) {
    return Value(Value::List{Args{full({3}, 4)}, kwargs});
  });
  EXPECT_EQ(values(model(ones({3}))), (std::vector<float>{8, 8, 8}));
}

TEST(H3, a_pre_hook_sees_nothing_for_outputs_that_are_no_tensors) {
  const auto model = make<WithNumber>();
  int calls = 0;
  model->register_full_backward_pre_hook([&](const Module&, const Grads& grad_output) {
    ++calls;
    ASSERT_EQ(grad_output.size(), 2U);
    EXPECT_EQ(values(grad_output[0]), (std::vector<float>{1, 1, 1}));
    EXPECT_FALSE(grad_output[1].defined());
  });
  sum(model(input3()).first).backward();
  EXPECT_EQ(calls, 1);
}

TEST(H3, a_wrong_number_of_gradients_is_an_error) {
  const auto model = make<Scale>();
  model->register_full_backward_pre_hook([](const Module&, const Grads&) { return Grads(3); });
  const Tensor y = model(input3());
  EXPECT_EQ(error_of<RuntimeError>([&] { y.backward(ones({3})); }),
            "backward hook of Scale returned 3 gradients, expected 1");
}

TEST(H3, inputs_cannot_be_changed_in_place) {
  const auto model = make<Overwriting>();
  model->register_full_backward_pre_hook([](const Module&, const Grads&) {});
  EXPECT_THAT(error_of<RuntimeError>([&] { model(input3() * 1.0); }),
              HasSubstr("module with backward hooks cannot be changed in place"));
}

TEST(H3, the_module_and_the_caller_see_views) {
  struct Keeping : Module {
    Tensor* seen;
    explicit Keeping(Tensor* where) : seen(where) {}
    Tensor forward(const Tensor& x) const {
      *seen = x;
      return x;
    }
  };
  Tensor seen;
  const auto model = make<Keeping>(&seen);
  model->register_full_backward_pre_hook([](const Module&, const Grads&) {});
  const Tensor x = input3();
  const Tensor y = model(x);
  EXPECT_FALSE(seen.is(x));
  EXPECT_TRUE(seen.shares_storage(x));
  EXPECT_FALSE(y.is(seen));
  EXPECT_TRUE(y.shares_storage(x));
}

TEST(H4, named_arguments_are_none_of_the_inputs) {
  struct Named : Scale {
    Tensor forward(const Tensor& x, const Kwargs& kwargs) const {
      return x * factor + kwargs.at("bias").tensor();
    }
  };
  const auto model = make<Named>();
  std::size_t inputs = 0;
  model->register_full_backward_hook(
      [&](const Module&, const Grads& grad_input, const Grads&) { inputs = grad_input.size(); });
  const Tensor bias = input3();
  model(input3(), Kwargs{{"bias", bias}}).backward(ones({3}));
  EXPECT_EQ(inputs, 1U);
  EXPECT_EQ(values(bias.grad()), (std::vector<float>{1, 1, 1}));
}

TEST(H4, an_output_that_is_neither_tensor_nor_list_is_warned_of) {
  struct Mapping : Scale {
    Value::Map forward(const Tensor& x) const { return {{"y", Value(x * factor)}}; }
  };
  const auto model = make<Mapping>();
  std::string logged;
  const LogSinkScope sink([&](LogLevel, std::string_view line) { logged += line; });
  model->register_full_backward_hook([](const Module&, const Grads&, const Grads&) {});
  const Value::Map y = model(input3());
  EXPECT_THAT(logged, HasSubstr("Mapping: backward hooks see tensors and lists of them"));
  EXPECT_NO_THROW(sum(y.at("y").tensor()).backward());
}

TEST(X34, backward_hooks_take_the_options_of_forward_hooks) {
  const auto model = make<Scale>();
  std::string order;
  const HookOptions first{.prepend = true};
  const auto pre = [&order](const char* who) {
    return [&order, who](const Module&, const Grads&) { order += who; };
  };
  const auto full = [&order](const char* who) {
    return [&order, who](const Module&, const Grads&, const Grads&) { order += who; };
  };
  model->register_full_backward_pre_hook(pre("b"));
  model->register_full_backward_pre_hook(pre("a"), first);
  model->register_full_backward_hook(full("d"));
  model->register_full_backward_hook(full("c"), first);
  model(input3()).backward(ones({3}));
  EXPECT_EQ(order, "abcd");
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

TEST(X43, legacy_hooks_still_run_for_one_module_or_all) {
  std::string logged;
  const LogSinkScope sink([&](LogLevel, std::string_view line) { logged += line; });
  const auto model = make<Scale>();
  std::string order;
  model->register_backward_hook(
      [&](const Module&, const Grads&, const Grads&) { order += "own "; });
  const ScopedHandle process = global_hooks::register_backward(
      [&](const Module&, const Grads&, const Grads&) { order += "process "; });
  model(input3()).backward(ones({3}));
  EXPECT_EQ(order, "process own ");
}

TEST(H5, several_outputs_are_warned_of) {
  std::string logged;
  const LogSinkScope sink([&](LogLevel, std::string_view line) { logged += line; });
  const auto model = make<WithNumber>();
  int calls = 0;
  model->register_backward_hook([&](const Module&, const Grads&, const Grads&) { ++calls; });
  sum(model(input3()).first).backward();
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(logged,
              HasSubstr("WithNumber: legacy backward hooks see the first tensor of a list alone"));
}

#pragma GCC diagnostic pop

TEST(X34, hooks_of_every_kind_take_the_same_options) {
  const auto model = make<Scale>();
  std::string order;
  const auto note = [&order](const char* what) {
    return [&order, what](const Module&, const auto&...) { order.append(what).append(" "); };
  };
  std::vector<ScopedHandle> hooks;
  for (const char* which : {"late", "early"}) {
    const HookOptions options{.prepend = which[0] == 'e'};
    hooks.emplace_back(global_hooks::register_forward_pre(
        [hook = note(which)](const Module& m, const Args& args) { hook(m, args); }, options));
    hooks.emplace_back(global_hooks::register_full_backward_pre(
        [hook = note(which)](const Module& m, const Grads& g) { hook(m, g); }, options));
    hooks.emplace_back(global_hooks::register_full_backward(
        [hook = note(which)](const Module& m, const Grads& g, const Grads& h) { hook(m, g, h); },
        options));
  }
  model(input3()).backward(ones({3}));
  EXPECT_EQ(order, "early late early late early late ");
}

TEST(X34, always_call_is_for_forward_hooks) {
  const auto model = make<Scale>();
  const HookOptions always{.always_call = true};
  const auto pre = [](const Module&, const Args&) {};
  const auto backward_pre = [](const Module&, const Grads&) {};
  const auto backward = [](const Module&, const Grads&, const Grads&) {};
  EXPECT_EQ(error_of<ValueError>([&] { model->register_forward_pre_hook(pre, always); }),
            "hooks: always_call is for forward hooks; got it for another kind");
  EXPECT_THROW(model->register_full_backward_pre_hook(backward_pre, always), ValueError);
  EXPECT_THROW(model->register_full_backward_hook(backward, always), ValueError);
  EXPECT_THROW(global_hooks::register_forward_pre(pre, always), ValueError);
  EXPECT_THROW(global_hooks::register_full_backward_pre(backward_pre, always), ValueError);
  EXPECT_THROW(global_hooks::register_full_backward(backward, always), ValueError);
  EXPECT_EQ(values(model(ones({3}))), (std::vector<float>{2, 2, 2}));
}

}  // namespace
}  // namespace tessera::nn::contract
