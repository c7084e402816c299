// Rows H1, H2, H10, H13 and P-1, P-11, X3: hooks around forward.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include <tessera/core/base/log.h>
#include <tessera/core/ops/sub.h>
#include <tessera/nn/hooks/global_hooks.h>

#include "hook_models.h"
#include "support/error_of.h"

namespace tessera::nn::contract {
namespace {

using testing::HasSubstr;
using testing_support::error_of;

std::vector<float> ones3() {
  return {1, 1, 1};
}

/// Several kinds of arguments and results.
struct ManyKinds : Module {
  std::pair<Tensor, double> forward(const Tensor& x, std::int64_t n, const std::string& text,
                                    const Kwargs& kwargs) const {
    const double scale = kwargs.empty() ? 1.0 : kwargs.at("scale").get<double>();
    return {x * scale, static_cast<double>(n) + static_cast<double>(text.size())};
  }
};

TEST(H1, a_pre_hook_replaces_arguments) {
  const auto model = make<Scale>();
  model->register_forward_pre_hook(
      [](const Module&, const Args& args) { return Args{args[0].tensor() * 10.0}; });
  EXPECT_EQ(model(ones({3})).to_vector<float>()[0], 20);
}

TEST(H1, a_single_tensor_stands_for_the_only_argument) {
  const auto model = make<Leaf>();
  model->register_forward_pre_hook(
      [](const Module&, const Args&) -> std::optional<Tensor> { return zeros({1}); });
  EXPECT_EQ(model(ones({3})).shape(), Shape{1});
}

TEST(H1, a_pre_hook_that_leaves_too_few_arguments_is_an_error) {
  const auto model = make<Leaf>();
  model->register_forward_pre_hook([](const Module&, const Args&) { return Args{}; });
  EXPECT_EQ(error_of<TypeError>([&] { model(ones({3})); }),
            "Leaf: forward pre-hooks left 0 arguments, expected 1");
}

TEST(H1, a_pre_hook_that_leaves_an_argument_of_another_kind_is_named) {
  const auto model = make<Outer>();
  model->inner->register_forward_pre_hook(
      [](const Module&, const Args&) { return Value(std::string("x")); });
  EXPECT_EQ(error_of<TypeError>([&] { model(ones({3})); }),
            "Inner: forward pre-hooks left what forward does not take; value: wrong kind; got a "
            "text, expected a tensor, in module inner");
}

TEST(H2, a_hook_that_returns_an_output_of_another_kind_is_named) {
  const auto model = make<Outer>();
  model->inner->register_forward_hook(
      [](const Module&, const Args&, const Value&) { return Value(std::string("x")); });
  EXPECT_EQ(error_of<TypeError>([&] { model(ones({3})); }),
            "Inner: forward hooks left what forward does not return; value: wrong kind; got a "
            "text, expected a tensor, in module inner");
}

TEST(H2, a_forward_hook_replaces_the_output) {
  const auto model = make<Outer>();
  model->inner->register_forward_hook([](const Module& m, const Args& args, const Value& output) {
    EXPECT_EQ(m.class_name(), "Inner");
    EXPECT_EQ(args[0].tensor().to_vector<float>(), ones3());
    return output.tensor() - 3.0;
  });
  EXPECT_EQ(model(ones({3})).to_vector<float>(), (std::vector<float>{0, 0, 0}));
}

TEST(H2, changing_inputs_in_the_hook_has_no_effect_on_this_forward) {
  const auto model = make<Scale>();
  model->register_forward_hook(
      [](const Module&, const Args& args, const Value&) { args[0].tensor().copy_(zeros({3})); });
  const Tensor x = ones({3});
  EXPECT_EQ(model(x).to_vector<float>(), (std::vector<float>{2, 2, 2}));
  EXPECT_EQ(x.to_vector<float>()[0], 0);
}

TEST(P_1, prepend_puts_a_hook_before_the_others) {
  const auto model = make<Leaf>();
  std::string order;
  const auto note = [&](const char* text) {
    return [&order, text](const Module&, const Args&) { order += text; };
  };
  model->register_forward_pre_hook(note("b"));
  model->register_forward_pre_hook(note("a"), {.prepend = true});
  model->register_forward_pre_hook(note("c"));
  model(ones({1}));
  EXPECT_EQ(order, "abc");
}

TEST(P_1, kwargs_can_be_edited_by_a_pre_hook) {
  const auto model = make<ManyKinds>();
  EXPECT_EQ(model(ones({3}), 2, "text", Kwargs{}).second, 6);
  model->register_forward_pre_hook([](const Module&, const Args& args, const Kwargs& kwargs) {
    Kwargs edited = kwargs;
    edited.set("scale", 4.0);
    return CallInputs{Args{args[0], 7, args[2]}, edited};
  });
  model->register_forward_hook(
      [](const Module&, const Args&, const Kwargs& kwargs, const Value& output) {
        EXPECT_EQ(kwargs.at("scale").get<double>(), 4.0);
        EXPECT_EQ(output.get<Value::List>()[1].get<double>(), 11);
      });
  const auto [y, n] = model(ones({3}), 2, "text", Kwargs{});
  EXPECT_EQ(y.to_vector<float>()[0], 4);
  EXPECT_EQ(n, 11);
}

TEST(P_1, always_call_sees_a_call_that_throws_and_keeps_its_error) {
  const auto model = make<FailingForward>();
  std::string seen;
  std::string logged;
  const LogSinkScope sink([&](LogLevel, std::string_view line) { logged += line; });
  model->register_forward_hook([&](const Module&, const Args&, const Value&) { seen += "plain"; });
  model->register_forward_hook(
      [&](const Module&, const Args&, const Value& output) {
        seen += output.empty() ? "nothing " : "output ";
        throw std::runtime_error("hook failed");
      },
      {.always_call = true});
  model->register_forward_hook([&](const Module&, const Args&, const Value&) { seen += "second"; },
                               {.always_call = true});
  EXPECT_EQ(error_of<std::runtime_error>([&] { model(ones({1})); }), "forward failed");
  EXPECT_EQ(seen, "nothing second");
  EXPECT_THAT(logged, HasSubstr("hook failed"));
}

TEST(P_1, always_call_hooks_run_once_when_a_later_hook_throws) {
  const auto model = make<Leaf>();
  int calls = 0;
  model->register_forward_hook([&](const Module&, const Args&, const Value&) { ++calls; },
                               {.always_call = true});
  model->register_forward_hook(
      [](const Module&, const Args&, const Value&) { throw std::runtime_error("second"); });
  EXPECT_THROW(model(ones({1})), std::runtime_error);
  EXPECT_EQ(calls, 1);
}

TEST(P_11, process_wide_hooks_run_before_prepended_own_ones) {
  const auto model = make<Leaf>();
  std::string order;
  const auto pre = [&](const char* text) {
    return [&order, text](const Module&, const Args&) { order += text; };
  };
  const auto post = [&](const char* text) {
    return [&order, text](const Module&, const Args&, const Value&) { order += text; };
  };
  model->register_forward_pre_hook(pre("own "), {.prepend = true});
  model->register_forward_hook(post("own-after"), {.prepend = true});
  {
    const ScopedHandle first = global_hooks::register_forward_pre(pre("process "));
    const ScopedHandle second = global_hooks::register_forward(post("process-after "));
    model(ones({1}));
  }
  EXPECT_EQ(order, "process own process-after own-after");
  order.clear();
  model(ones({1}));
  EXPECT_EQ(order, "own own-after");
}

TEST(H13, a_later_hook_sees_what_the_earlier_one_replaced) {
  const auto model = make<Leaf>();
  for (int i = 0; i < 2; ++i) {
    model->register_forward_pre_hook(
        [](const Module&, const Args& args) { return args[0].tensor() + 1.0; });
    model->register_forward_hook(
        [](const Module&, const Args&, const Value& output) { return output.tensor() * 2.0; });
  }
  EXPECT_EQ(model(zeros({1})).item(), 8);
}

TEST(X3, hooks_are_positional_by_default) {
  const auto model = make<ManyKinds>();
  model->register_forward_pre_hook([](const Module&, const Args& args) {
    EXPECT_EQ(args.size(), 3U);
    EXPECT_EQ(args[1].get<std::int64_t>(), 2);
    EXPECT_EQ(args[2].get<std::string>(), "text");
  });
  model(ones({3}), 2, "text", Kwargs{{"scale", 2.0}});
}

TEST(H12, a_hook_may_remove_itself_while_it_runs) {
  const auto model = make<Leaf>();
  int calls = 0;
  RemovableHandle handle;
  handle = model->register_forward_pre_hook([&](const Module&, const Args&) {
    ++calls;
    handle.remove();
  });
  model(ones({1}));
  model(ones({1}));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace tessera::nn::contract
