// Rows H3, H4, P-2, P-3, T-3, X2: hooks on the gradients of a module's inputs and outputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/autograd/checkpoint.h>
#include <tessera/core/base/log.h>
#include <tessera/core/ops/relu.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/nn/hooks/global_hooks.h>

#include "hook_models.h"
#include "support/error_of.h"
#include "support/values.h"

namespace tessera::nn::contract {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing_support::error_of;
using testing_support::values;

/// x * factor and y, with an integer that has no gradient.
struct TwoResults : Scale {
  std::pair<Tensor, Tensor> forward(const Tensor& x, std::int64_t n, const Tensor& y) const {
    return {x * factor, y * static_cast<double>(n)};
  }
};

TEST(H3, a_pre_hook_replaces_the_gradients_of_the_outputs) {
  const auto model = make<Scale>();
  model->register_full_backward_pre_hook([](const Module& m, const Grads& grad_output) {
    EXPECT_EQ(m.class_name(), "Scale");
    return Grads{grad_output[0] * 10.0};
  });
  const Tensor x = input3();
  model(x).backward(ones({3}));
  EXPECT_EQ(values(x.grad()), (std::vector<float>{20, 20, 20}));
  EXPECT_EQ(values(model->factor.grad()), (std::vector<float>{10, 10, 10}));
}

TEST(P_2, a_scaled_grad_output_changes_all_inner_gradients) {
  const auto model = make<Outer>();
  model->register_full_backward_pre_hook(
      [](const Module&, const Grads& grad_output) { return Grads{grad_output[0] * 0.5}; });
  const auto plain = make<Outer>();
  const Tensor x = input3();
  const Tensor y = input3();
  model(x).backward(ones({3}));
  plain(y).backward(ones({3}));
  for (const char* name : {"inner.scale.factor", "last.factor"}) {
    EXPECT_EQ(values(model->get_parameter(name).grad() * 2.0),
              values(plain->get_parameter(name).grad()));
  }
  EXPECT_EQ(values(x.grad()), (std::vector<float>{2, 2, 2}));
}

TEST(H4, a_full_hook_sees_positional_inputs_and_all_outputs) {
  const auto model = make<TwoResults>();
  int calls = 0;
  model->register_full_backward_hook(
      [&](const Module&, const Grads& grad_input, const Grads& grad_output) {
        ++calls;
        ASSERT_EQ(grad_input.size(), 3U);
        EXPECT_EQ(values(grad_input[0]), (std::vector<float>{2, 2, 2}));
        EXPECT_FALSE(grad_input[1].defined());
        EXPECT_EQ(values(grad_input[2]), (std::vector<float>{5, 5, 5}));
        EXPECT_EQ(grad_output.size(), 2U);
      });
  const Tensor x = input3();
  const Tensor y = input3();
  const auto [a, b] = model(x, std::int64_t{5}, y);
  sum(a + b).backward();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(values(y.grad()), (std::vector<float>{5, 5, 5}));
}

TEST(H4, a_later_hook_sees_what_the_earlier_one_replaced) {
  const auto model = make<Scale>();
  std::string order;
  model->register_full_backward_hook([&](const Module&, const Grads& grad_input, const Grads&) {
    order += "second ";
    return Grads{grad_input[0] + 1.0};
  });
  model->register_full_backward_hook(
      [&](const Module&, const Grads& grad_input, const Grads&) {
        order += "first ";
        return Grads{grad_input[0] * 10.0};
      },
      {.prepend = true});
  const ScopedHandle process = global_hooks::register_full_backward(
      [&](const Module&, const Grads&, const Grads&) { order += "process "; });
  const Tensor x = input3();
  model(x).backward(ones({3}));
  EXPECT_EQ(order, "process first second ");
  EXPECT_EQ(values(x.grad()), (std::vector<float>{21, 21, 21}));
  EXPECT_EQ(values(model->factor.grad()), (std::vector<float>{1, 1, 1}));
}

TEST(H4, a_wrong_number_of_gradients_is_an_error) {
  const auto model = make<Scale>();
  model->register_full_backward_hook(
      [](const Module&, const Grads&, const Grads&) { return Grads(2); });
  const Tensor y = model(input3());
  EXPECT_EQ(error_of<RuntimeError>([&] { y.backward(ones({3})); }),
            "backward hook of Scale returned 2 gradients, expected 1");
}

TEST(H4, inputs_and_outputs_cannot_be_changed_in_place) {
  const auto quiet = [](const Module&, const Grads&, const Grads&) {};
  const auto model = make<Overwriting>();
  model->register_full_backward_hook(quiet);
  const std::string text = error_of<RuntimeError>([&] { model(input3() * 1.0); });
  EXPECT_THAT(text, HasSubstr("module with backward hooks cannot be changed in place"));
  const auto scale = make<Scale>();
  scale->register_full_backward_hook(quiet);
  Tensor y = scale(input3());
  EXPECT_THROW(mul_(y, 2.0), RuntimeError);
  const NoGradGuard off_the_tape;
  EXPECT_NO_THROW(model(ones({3})));
}

TEST(P_3, without_inputs_that_require_a_gradient_it_fires_at_the_outputs_with_a_warning) {
  const auto model = make<Scale>();
  std::string logged;
  const LogSinkScope sink([&](LogLevel, std::string_view line) { logged += line; });
  int calls = 0;
  model->register_full_backward_hook(
      [&](const Module&, const Grads& grad_input, const Grads& grad_output) {
        ++calls;
        EXPECT_FALSE(grad_input.at(0).defined());
        EXPECT_EQ(values(grad_output[0]), (std::vector<float>{3, 3, 3}));
      });
  model(ones({3})).backward(full({3}, 3));
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(logged, HasSubstr("Scale: no input requires a gradient"));
}

TEST(P_3, without_inputs_that_require_a_gradient_a_hook_must_return_none) {
  const auto model = make<Scale>();
  model->register_full_backward_hook(
      [](const Module&, const Grads&, const Grads&) { return Grads{ones({3})}; });
  const Tensor y = model(ones({3}));
  EXPECT_EQ(error_of<RuntimeError>([&] { y.backward(ones({3})); }),
            "backward hook of Scale returned gradients, but no input requires one");
}

TEST(P_3, without_outputs_that_require_a_gradient_it_never_fires) {
  const auto model = make<Scale>();
  model->requires_grad_(false);
  int calls = 0;
  model->register_full_backward_hook([&](const Module&, const Grads&, const Grads&) { ++calls; });
  EXPECT_FALSE(model(ones({3})).requires_grad());
  const Tensor x = input3();
  const Tensor unused = model(x);
  sum(x * x).backward();
  EXPECT_EQ(calls, 0);
}

TEST(T_3, the_common_case_fires_when_the_inputs_gradients_are_there) {
  const auto model = make<Outer>();
  std::string order;
  for (Module* module : model->modules()) {
    module->register_full_backward_hook([&order](const Module& m, const Grads&, const Grads&) {
      order += detail::key(m).empty() ? "root " : detail::key(m) + " ";
    });
  }
  model(input3()).backward(ones({3}));
  EXPECT_EQ(order, "last scale inner root ");
}

TEST(X2, a_hook_is_skipped_where_the_gradient_does_not_come_through_the_outputs) {
  struct Escaping : Module {
    explicit Escaping(Tensor* where) : escaped(where) {}
    Tensor* escaped;
    Tensor forward(const Tensor& x) const {
      *escaped = x * 3.0;
      return x * 2.0;
    }
  };
  Tensor escaped;
  const auto model = make<Escaping>(&escaped);
  int calls = 0;
  model->register_full_backward_hook([&](const Module&, const Grads&, const Grads&) { ++calls; });
  const Tensor x = input3();
  static_cast<void>(model(x));
  sum(escaped).backward();
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(values(x.grad()), (std::vector<float>{3, 3, 3}));
}

TEST(H4, hooks_change_no_bits_when_they_return_nothing) {
  const auto run = [](bool hooked) {
    const auto model = make<Outer>();
    if (hooked) {
      for (Module* module : model->modules()) {
        module->register_full_backward_hook([](const Module&, const Grads&, const Grads&) {});
        module->register_full_backward_pre_hook([](const Module&, const Grads&) {});
      }
    }
    const Tensor x = input3();
    sum(model(x) * model(x)).backward();
    auto all = values(x.grad());
    for (const Parameter& p : model->parameters()) {
      const auto more = values(p.grad());
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  };
  EXPECT_EQ(run(true), run(false));
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

TEST(H5, the_legacy_hook_sees_the_last_op_alone) {
  const auto model = make<Inner>();  // x * factor + offset
  std::size_t inputs = 0;
  const RemovableHandle handle = model->register_backward_hook(
      [&](const Module& m, const Grads& grad_input, const Grads& grad_output) {
        EXPECT_EQ(m.class_name(), "Inner");
        EXPECT_EQ(values(grad_output[0]), (std::vector<float>{1, 1, 1}));
        inputs = grad_input.size();
        return Grads{grad_input[0] * 5.0, grad_input[1]};
      });
  const Tensor x = input3();
  model(x).backward(ones({3}));
  EXPECT_EQ(inputs, 2U);  // the sum's
  EXPECT_EQ(values(x.grad()), (std::vector<float>{10, 10, 10}));
  handle.remove();
  x.set_grad({});
  model(x).backward(ones({3}));
  EXPECT_EQ(values(x.grad()), (std::vector<float>{2, 2, 2}));
}

struct GivesMap : Module {
  Parameter w{this, "w", {2}, init::constant(1)};
  Value forward(const Tensor& x) const {
    Kwargs out;
    out.set("text", "none");
    out.set("y", w * x);
    return out;
  }
};

TEST(H5, the_legacy_hook_sees_the_first_tensor_of_a_map) {
  const auto model = make<GivesMap>();
  int calls = 0;
  model->register_backward_hook([&](const Module&, const Grads&, const Grads&) { ++calls; });
  const Value out = model(ones({2}));
  sum(out.get<Kwargs>().at("y").tensor()).backward();
  EXPECT_EQ(calls, 1);
}

TEST(H5, legacy_and_full_hooks_exclude_each_other) {
  const auto legacy = [](const Module&, const Grads&, const Grads&) {};
  const auto model = make<Scale>();
  const RemovableHandle first = model->register_backward_hook(legacy);
  EXPECT_EQ(error_of<RuntimeError>([&] { model->register_full_backward_hook(legacy); }),
            "Scale: legacy and full backward hooks cannot be combined");
  first.remove();
  model->register_full_backward_hook(legacy);
  EXPECT_THROW(model->register_backward_hook(legacy), RuntimeError);
  const ScopedHandle global = global_hooks::register_backward(legacy);
  EXPECT_THROW(global_hooks::register_full_backward(legacy), RuntimeError);
}

TEST(H5, a_gradient_of_the_wrong_shape_is_the_hooks_error) {
  const auto model = make<Inner>();
  const ScopedHandle input = model->register_full_backward_hook(
      [](const Module&, const Grads&, const Grads&) { return Grads{ones({4})}; });
  EXPECT_EQ(error_of<RuntimeError>([&] { model(input3()).backward(ones({3})); }),
            "backward hook of Inner returned a gradient of the wrong shape as number 0; got (4,), "
            "expected (3,)");
  const ScopedHandle output = model->register_full_backward_pre_hook(
      [](const Module&, const Grads&) { return Grads{ones({5})}; });
  EXPECT_EQ(error_of<RuntimeError>([&] { model(input3()).backward(ones({3})); }),
            "backward hook of Inner returned a gradient of the wrong shape as number 0; got (5,), "
            "expected (3,)");
}

TEST(H5, what_a_hook_does_wrong_names_the_module) {
  const auto model = make<Outer>();
  const auto fails = [](const auto&...) { static_cast<void>(ones({2}) + ones({3})); };
  const auto message = [&](const auto& m) {
    return error_of<InvalidArgument>([&] { m(input3()).backward(ones({3})); });
  };
  RemovableHandle full = model->last->register_full_backward_hook(
      [&](const Module&, const Grads&, const Grads&) { fails(); });
  EXPECT_THAT(message(model), EndsWith(", in module last"));
  full.remove();
  const ScopedHandle before =
      model->inner->register_full_backward_pre_hook([&](const Module&, const Grads&) { fails(); });
  EXPECT_THAT(message(model), EndsWith(", in module inner"));
}

/// Keeps what it was given.
struct KeepsInput : Module {
  mutable Tensor kept;
  Tensor forward(const Tensor& x) const {
    kept = x;
    return x * 1.0;
  }
};

TEST(H5, an_input_that_is_changed_after_the_call_is_no_longer_used) {
  const auto model = make<KeepsInput>();
  model->register_full_backward_hook([](const Module&, const Grads&, const Grads&) {});
  const Tensor x = input3();
  const Tensor given = x * 1.0;
  static_cast<void>(model(given));
  mul_(given, 2.0);
  EXPECT_THROW(sum(model->kept * 10).backward(), RuntimeError);
  sum(given).backward();  // the changed one itself is as good as ever
  EXPECT_EQ(values(x.grad()), (std::vector<float>{2, 2, 2}));
  model->kept = {};  // its tape holds the module, whose hooks it would run
}

TEST(H5, a_wrong_number_of_gradients_is_an_error) {
  const auto model = make<Scale>();
  model->register_backward_hook([](const Module&, const Grads&, const Grads&) { return Grads{}; });
  const Tensor y = model(input3());
  EXPECT_EQ(error_of<RuntimeError>([&] { y.backward(ones({3})); }),
            "backward hook of Scale returned 0 gradients, expected 2");
}

#pragma GCC diagnostic pop

TEST(H4, hooks_inside_a_checkpointed_region_fire_once) {
  const auto model = make<Outer>();
  int calls = 0;
  model->inner->register_full_backward_hook(
      [&](const Module&, const Grads& grad_input, const Grads& grad_output) {
        ++calls;
        EXPECT_EQ(values(grad_output[0]), (std::vector<float>{2, 2, 2}));
        return Grads{grad_input[0] * 3.0};
      });
  const Tensor x = input3();
  checkpoint([&](const Tensor& in) { return model(in); }, x).backward(ones({3}));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(values(x.grad()), (std::vector<float>{12, 12, 12}));
}

}  // namespace
}  // namespace tessera::nn::contract
