// Rows F3, F6 to F8, F11, O-1, O-4, O-7, X13 and X40: pure calls on models with state of every
// sort.
#include <gtest/gtest.h>

#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/sum.h>
#include <tessera/nn/functional/module_of.h>
#include <tessera/nn/functional/pure.h>
#include <tessera/nn/hooks/global_hooks.h>
#include <tessera/nn/state/tree_def.h>
#include <tessera/nn/tracking/submod_trace.h>

#include "models.h"
#include "norm_and_dropout.h"
#include "support/error_of.h"
#include "support/values.h"

namespace tessera::nn::contract {
namespace {

using testing_support::error_of;
using testing_support::values;

const CallOptions kKeyed{.key = RandomKey{3, 4}};

/// What all slots of a module hold, and how often that was written.
struct Contents {
  std::vector<std::vector<float>> values;
  std::vector<std::uint32_t> versions;
  std::vector<const void*> memory;
  friend bool operator==(const Contents&, const Contents&) = default;
};
Contents contents_of(const Module& module) {
  Contents state;
  for (const auto& [name, slot] : module.named_slots()) {
    state.values.push_back(slot->value.to_vector<float>());
    state.versions.push_back(slot->value.version());
    state.memory.push_back(slot->value.raw_data());
  }
  return state;
}

/// Counts its uses.
Tensor counting_uses(nn::State& s, const Tensor& x) {
  const Tensor n = s.variable("n", [] { return zeros({}); }, {.trainable = false});
  s.assign("n", n + 1.0);
  return x;
}

TEST(O_1, call_leaves_a_model_with_batch_norm_and_dropout_as_it_was) {
  const auto model = make<NormAndDropout>();
  const Contents before = contents_of(*model);
  const Tensor first = call(model, batch(), kKeyed);
  EXPECT_EQ(values(call(model, batch(), kKeyed)), values(first));
  EXPECT_EQ(contents_of(*model), before);
}

TEST(F6, update_gives_a_new_module_and_leaves_the_receiver) {
  const auto model = make<NormAndDropout>();
  const Contents before = contents_of(*model);
  const Ptr<NormAndDropout> next = update(model, batch(), kKeyed);
  EXPECT_EQ(contents_of(*model), before);
  EXPECT_NE(next.get(), model.get());
  EXPECT_EQ(next->norm->num_batches_tracked.value().item<std::int64_t>(), 1);
  EXPECT_NE(values(next->norm->running_mean), values(model->norm->running_mean));
  EXPECT_TRUE(next->hidden->weight.value().requires_grad());
}

TEST(F7, call_and_update_gives_both_and_calls_what_a_class_overrides) {
  const auto model = make<NormAndDropout>();
  const auto [y, next] = call_and_update(model, batch(), kKeyed);
  EXPECT_EQ(values(y), values(call(model, batch(), kKeyed)));
  EXPECT_EQ(contents_of(*next).values, contents_of(*update(model, batch(), kKeyed)).values);

  struct Cheaper : Leaf {
    [[nodiscard]] std::pair<Tensor, ModulePtr> call_and_update(const Tensor& x) const override {
      return {x * 7.0, clone()};
    }
  };
  const auto cheaper = make<Cheaper>();
  EXPECT_EQ(values(cheaper->call_and_update(ones({1})).first), std::vector<float>{7});
  EXPECT_NE(cheaper->update(ones({1})), cheaper);
  EXPECT_EQ(values(call_and_update(cheaper, ones({1})).first), std::vector<float>{7});
  const auto [outputs, next_ones] = call_and_update(std::tuple{cheaper}, ones({1}));
  EXPECT_EQ(values(std::get<0>(outputs)), std::vector<float>{7});
}

TEST(F7, assigning_what_was_never_declared_is_an_error_of_the_call) {
  bool stray = false;
  const auto module = module_of([&](nn::State& s, const Tensor& x) {
    if (stray) {
      s.assign("w", x);
    }
    return counting_uses(s, x);
  })(RandomKey{1, 0}, ones({1}));
  stray = true;
  EXPECT_EQ(error_of<ValueError>([&] { static_cast<void>(call_and_update(module, ones({1}))); }),
            "assign: \"w\" is no variable of module");
  stray = false;
  EXPECT_EQ(update(module, ones({1}))->get_buffer("n")->item(), 1);
}

TEST(C8, the_last_assignment_counts) {
  const auto twice = module_of([](nn::State& s, const Tensor& x) {
    static_cast<void>(s.variable("n", [] { return zeros({}); }, {.trainable = false}));
    s.assign("n", ones({}));
    s.assign("n", full({}, 5));
    return x;
  })(RandomKey{1, 0}, ones({1}));
  EXPECT_EQ(update(twice, ones({1}))->get_buffer("n")->item(), 5);
}

TEST(C7, a_bound_value_is_returned_in_place_of_the_variables) {
  const auto scale = module_of([](nn::State& s, const Tensor& x) {
    return x * s.variable("w", [] { return full({1}, 3); });
  })(RandomKey{1, 0}, ones({1}));
  const Variables v{{"w", full({1}, 8)}};
  EXPECT_EQ(scale(ones({1}), CallOptions{.v = &v}).item(), 8);
  EXPECT_EQ(scale(ones({1})).item(), 3);
}

TEST(F8, an_instance_call_announces_the_inner_state_nested_or_flat) {
  const RandomKey key{1, 0};
  const auto named = module_of(counting_uses, "inner")(key, ones({1}));
  const auto unnamed = module_of(counting_uses)(key, ones({1}));
  const auto outer = module_of([=](nn::State& s, const Tensor& x) {
    return s.call(unnamed, s.call(named, x));
  })(key, ones({1}));
  outer(ones({1}));
  EXPECT_EQ(outer->variables().at("inner.n").item(), 1);
  EXPECT_EQ(outer->variables().at("n").item(), 1);
}

TEST(F8, a_named_module_without_variables_declares_nothing) {
  const RandomKey key{1, 0};
  const auto plain = module_of([](nn::State&, const Tensor& x) { return x + 1.0; }, "plain");
  const auto inner = plain(key, ones({1}));
  const auto outer =
      module_of([=](nn::State& s, const Tensor& x) { return s.call(inner, x); })(key, ones({1}));
  EXPECT_TRUE(outer->variables().empty());
  EXPECT_EQ(outer(ones({1})).item(), 2);
}

TEST(O_4, variables_of_named_modules_are_nested_and_those_of_others_flat) {
  const RandomKey key{1, 0};
  const auto named = module_of(counting_uses, "inner")(key, ones({1}));
  const auto unnamed = module_of(counting_uses)(key, ones({1}));
  const auto outer = module_of(
      [=](nn::State& s, const Tensor& x) {
        const Tensor w = s.variable("w", [] { return ones({1}); });
        return s.call(unnamed, s.call(named, x)) * w;
      },
      "outer")(key, ones({1}));
  const Variables variables = outer->variables();
  EXPECT_EQ(names_of(variables), "w n inner ");
  EXPECT_EQ(names_of(variables["inner"]), "n ");
}

TEST(O_7, a_step_of_gradient_descent_as_arithmetic_on_modules) {
  const auto model = make<NormAndDropout>();
  const auto [value, grads, next] = value_and_grad(
      [](const auto& m) { return sum(m(batch(), CallOptions{.training = false})); }, model);
  std::vector<Tensor> leaves;
  for (const auto& [name, leaf] : (model->variables() - 0.5 * grads).leaves()) {
    leaves.push_back(leaf);
  }
  const TreeDef definition = model->flatten().second;
  const auto stepped =
      std::static_pointer_cast<NormAndDropout>(Module::unflatten(definition, leaves));
  EXPECT_TRUE(stepped->flatten().second == definition);
  EXPECT_EQ(values(stepped->out->bias), values(model->out->bias.value() - 2.0));
  EXPECT_EQ(values(stepped->norm->running_var), values(model->norm->running_var));
}

TEST(X13, update_is_a_new_module_of_the_same_class) {
  const auto model = make<NormAndDropout>();
  static_assert(std::is_same_v<decltype(update(model, batch())), Ptr<NormAndDropout>>);
  const ModulePtr next = make<Scale>()->update(ones({3}));
  EXPECT_EQ(next->class_name(), "Scale");
}

TEST(X40, only_the_instance_call_runs_hooks) {
  const auto model = make<NormAndDropout>();
  int calls = 0;
  const auto count = [&](const Module&, const Args&, const Value&) { ++calls; };
  const auto count_gradients = [&](const Module&, const Grads&, const Grads&) { ++calls; };
  model->register_forward_hook(count);
  model->norm->register_forward_pre_hook([&](const Module&, const Args&) { ++calls; });
  model->out->register_full_backward_hook(count_gradients);
  const ScopedHandle process = global_hooks::register_forward(count);
  const ScopedHandle backward = global_hooks::register_full_backward(count_gradients);
  const Tensor x = batch().set_requires_grad(true);
  sum(call(model, x, kKeyed)).backward();
  static_cast<void>(update(model, x, kKeyed));
  sum(call_and_update(model, x, kKeyed).first).backward();
  EXPECT_EQ(calls, 0);
  sum(model(x)).backward();
  EXPECT_EQ(calls, 1 + 1 + 5 + 1 + 5);
}

TEST(F11, what_is_given_back_is_detached_and_a_loss_without_parameters_has_zeros) {
  const auto model = make<Scale>();
  const auto [value, grads, next] =
      value_and_grad([](const auto&) { return sum(ones({3})); }, model);
  EXPECT_EQ(value.item(), 3);
  EXPECT_EQ(values(grads.at("factor")), (std::vector<float>{0, 0, 0}));
  EXPECT_FALSE(grads.at("factor").requires_grad());
  EXPECT_FALSE(model->v().at("factor").requires_grad());
  EXPECT_FALSE(model->variables().at("factor").requires_grad());
  EXPECT_TRUE(next->factor.value().requires_grad());
}

TEST(F3, one_call_takes_all_options_and_the_next_knows_of_none) {
  const auto model = make<Outer>();
  const Variables v = model->v() * 2;
  const Variables buffers{{"inner", Variables{{"offset", full({3}, 5)}}}};
  const CallOptions options{.v = &v,
                            .buffers = &buffers,
                            .training = false,
                            .key = RandomKey{1, 2},
                            .track_submod_rets = true,
                            .submod_depth = 1,
                            .track_submod_call_order = true};
  EXPECT_EQ(values(model(ones({3}), options)), (std::vector<float>{36, 36, 36}));
  EXPECT_EQ(names_of(last_trace().rets), " Inner_0  Scale_1 ");
  EXPECT_EQ(values(model(ones({3}))), (std::vector<float>{6, 6, 6}));
  EXPECT_EQ(names_of(last_trace().rets), " Inner_0  Scale_1 ");
  EXPECT_TRUE(model->training());
}

}  // namespace
}  // namespace tessera::nn::contract
