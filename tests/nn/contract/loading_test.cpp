// Rows H8, H9, K2 to K5, P-6, X7 and X36: loads in combination with ties, hooks, lazy layers,
// tensors without elements, and errors on the way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/core/autograd/hooks.h>
#include <tessera/core/base/log.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/sum.h>
#include <tessera/nn/layers/lazy.h>
#include <tessera/nn/optim/sgd.h>

#include "models.h"
#include "support/error_of.h"
#include "support/meta.h"
#include "support/values.h"

namespace tessera::nn::contract {
namespace {

using testing::HasSubstr;
using testing_support::error_of;
using testing_support::kMeta;
using testing_support::values;

struct Counter : Module, HasExtraState {
  Parameter weight{this, "weight", {1}, init::ones()};
  std::int64_t count = 0;
  [[nodiscard]] Value get_extra_state() const override { return count; }
  void set_extra_state(const Value& state) override { count = state.get<std::int64_t>(); }
};

TEST(X7, a_state_dict_holds_detached_handles_on_the_modules_memory) {
  const auto model = make<Outer>();
  const StateDict state = model->state_dict();
  for (const auto& [name, slot] : model->named_slots()) {
    EXPECT_TRUE(state.tensor(name).shares_storage(slot->value)) << name;
    EXPECT_FALSE(state.tensor(name).requires_grad()) << name;
  }
  state.tensor("last.factor").copy_(full({3}, 9));
  EXPECT_EQ(values(model->last->factor), (std::vector<float>{9, 9, 9}));
}

TEST(P_6, assigned_tensors_keep_ties_hooks_and_optimizers) {
  const auto model = make<TiedOuter>();
  optim::SGD optimizer(model->parameters(), {.lr = 1});
  int seen = 0;
  register_ready_hook(model->last->factor, [&](LeafNode&) { ++seen; });
  const Tensor given = full({3}, 3);
  const StateDict state{
      {"inner.offset", zeros({3})}, {"inner.scale.factor", given}, {"last.factor", given}};
  model->load_state_dict(state, {.assign = true});
  EXPECT_EQ(model->last->factor.slot(), model->inner->scale->factor.slot());
  EXPECT_TRUE(model->last->factor.value().requires_grad());
  sum(model(ones({3}))).backward();  // f * f
  EXPECT_EQ(seen, 1);
  optimizer.step();
  EXPECT_EQ(values(model->inner->scale->factor), (std::vector<float>{-3, -3, -3}));
}

TEST(K2, a_copy_into_tied_names_keeps_them_tied) {
  const auto model = make<TiedOuter>();
  const Tensor before = model->last->factor;
  model->load_state_dict(make<TiedOuter>()->state_dict());
  EXPECT_TRUE(before.is(model->inner->scale->factor));
}

TEST(K2, two_values_for_one_tensor_are_refused) {
  const auto model = make<TiedOuter>();
  const StateDict before = model->state_dict();
  StateDict state = make<Outer>()->state_dict();
  state.set("last.factor", full({3}, 7));
  for (const bool assign : {false, true}) {
    try {
      model->load_state_dict(state, {.strict = false, .assign = assign});
      ADD_FAILURE() << "loaded";
    } catch (const RuntimeError& e) {
      EXPECT_THAT(e.what(), HasSubstr("\"last.factor\": differs from \"inner.scale.factor\", and "
                                      "the module has one tensor for both"));
    }
    EXPECT_EQ(values(model->last->factor), values(before.tensor("last.factor")));
  }
  state.set("last.factor", clone(state.tensor("inner.scale.factor")));
  model->load_state_dict(state);
}

TEST(K2, slots_may_be_given_each_others_memory) {
  const auto model = make<Outer>();
  StateDict state = model->state_dict();
  const auto first = values(state.tensor("last.factor"));
  model->inner->scale->factor.value().detach().copy_(full({3}, 5));
  const Tensor last = state.tensor("last.factor"), inner = state.tensor("inner.scale.factor");
  state.set("last.factor", inner);
  state.set("inner.scale.factor", last);
  model->load_state_dict(state);
  EXPECT_EQ(values(model->last->factor), (std::vector<float>{5, 5, 5}));
  EXPECT_EQ(values(model->inner->scale->factor), first);
  const StateDict exchanged{{"inner.offset", zeros({3})},
                            {"inner.scale.factor", model->last->factor.value().detach()},
                            {"last.factor", model->inner->scale->factor.value().detach()}};
  model->load_state_dict(exchanged, {.assign = true});
  EXPECT_TRUE(model->last->factor.value().shares_storage(exchanged.tensor("last.factor")));
}

TEST(K2, slots_in_one_memory_may_be_exchanged) {
  const auto model = make<Outer>();
  const Tensor both = arange(6, {.dtype = DType::f32});
  const auto part = [&](std::int64_t from) { return slice(both, 0, from, from + 3); };
  const StateDict halves{
      {"inner.offset", zeros({3})}, {"inner.scale.factor", part(0)}, {"last.factor", part(3)}};
  model->load_state_dict(halves, {.assign = true});
  model->load_state_dict(
      {{"inner.offset", zeros({3})}, {"inner.scale.factor", part(3)}, {"last.factor", part(0)}});
  EXPECT_EQ(values(model->inner->scale->factor), (std::vector<float>{3, 4, 5}));
  EXPECT_EQ(values(model->last->factor), (std::vector<float>{0, 1, 2}));
}

TEST(K2, slots_that_overlap_take_what_both_can_hold) {
  const auto model = make<Outer>();
  const Tensor both = arange(5, {.dtype = DType::f32});
  const auto part = [&](std::int64_t from) { return slice(both, 0, from, from + 3); };
  const auto state = [](std::vector<float> a, std::vector<float> b) {
    return StateDict{{"inner.offset", zeros({3})},
                     {"inner.scale.factor", from_values<float>(a, {3})},
                     {"last.factor", from_values<float>(b, {3})}};
  };
  model->load_state_dict(
      {{"inner.offset", zeros({3})}, {"inner.scale.factor", part(0)}, {"last.factor", part(2)}},
      {.assign = true});
  model->load_state_dict(state({1, 2, 3}, {3, 4, 5}));
  EXPECT_EQ(values(both), (std::vector<float>{1, 2, 3, 4, 5}));
  EXPECT_THAT(error_of<RuntimeError>([&] {
                model->load_state_dict(state({1, 2, 3}, {7, 8, 9}));
              }),
              testing::HasSubstr("\"inner.scale.factor\": lies in memory that others"));
  EXPECT_EQ(values(both), (std::vector<float>{1, 2, 3, 4, 5}));
}

TEST(X36, what_is_no_tensor_fails_even_when_not_strict) {
  const auto model = make<Scale>();
  EXPECT_EQ(error_of<RuntimeError>([&] {
              model->load_state_dict({{"factor", "text"}, {"more", 1}}, {.strict = false});
            }),
            "load_state_dict(Scale): 1 problem\n\t\"factor\": not a tensor");
}

TEST(K4, tensors_without_elements_take_nothing_and_say_so) {
  const auto model = make<Scale>();
  model->to(kMeta);
  std::string logged;
  const LogSinkScope sink([&](LogLevel, std::string_view line) { logged += line; });
  const StateDict state{{"factor", full({3}, 7)}};
  EXPECT_TRUE(model->load_state_dict(state).missing_keys.empty());
  EXPECT_EQ(model->factor.value().device(), kMeta);
  EXPECT_THAT(logged, HasSubstr("\"factor\" has no data (meta)"));
  model->load_state_dict(state, {.assign = true});
  EXPECT_EQ(values(model->factor), (std::vector<float>{7, 7, 7}));
}

TEST(K4, names_are_reported_in_the_order_of_their_kind) {
  struct Mixed : Counter {
    Buffer mean{this, "mean", zeros({1})};
    Child<Scale> scale{this, "scale"};
    Parameter last = register_parameter("last", ones({1}));
  };
  EXPECT_EQ(make<Mixed>()->load_state_dict({}, {.strict = false}).missing_keys,
            (std::vector<std::string>{"weight", "last", "mean", "_extra_state", "scale.factor"}));
}

TEST(H8, edits_of_every_list_count_and_strict_is_always_told) {
  const auto model = make<Outer>();
  model->inner->register_load_state_dict_pre_hook([](Module&, LoadContext& load) {
    EXPECT_TRUE(load.strict);
    EXPECT_EQ(load.prefix, "inner.");
    load.missing_keys.emplace_back("lost");
    load.unexpected_keys.emplace_back("found");
  });
  const LoadResult result = model->load_state_dict(model->state_dict(), {.strict = false});
  EXPECT_EQ(result.missing_keys, std::vector<std::string>{"lost"});
  EXPECT_EQ(result.unexpected_keys, std::vector<std::string>{"found"});
  EXPECT_EQ(error_of<RuntimeError>([&] { model->load_state_dict(model->state_dict()); }),
            "load_state_dict(Outer): 2 problems\n\tmissing: \"lost\"\n\tunexpected: \"found\"");
}

TEST(H8, a_hook_that_throws_changes_nothing) {
  const auto model = make<Outer>();
  const RemovableHandle handle = model->last->register_load_state_dict_pre_hook(
      [](Module&, LoadContext&) { fail<ValueError>("not this one"); });
  StateDict state = model->state_dict();
  state.set("inner.scale.factor", full({3}, 7));
  EXPECT_THROW(model->load_state_dict(state), ValueError);
  EXPECT_EQ(values(model->inner->scale->factor), (std::vector<float>{2, 2, 2}));
  handle.remove();
  EXPECT_NO_THROW(model->load_state_dict(state));
}

TEST(H9, a_later_failure_puts_extra_state_ties_and_lazy_layers_back) {
  struct Model : Module {
    Child<Counter> counter{this, "counter"};
    Child<LazyLinear> lazy{this, "lazy", 2};
    Tensor forward(const Tensor& x) const { return lazy(x); }
  };
  const auto model = make<Model>();
  const RemovableHandle failing = model->register_load_state_dict_post_hook(
      [](Module&, LoadResult&) { fail<RuntimeError>("too late"); });
  const StateDict state{{"counter.weight", full({1}, 5)},
                        {"counter._extra_state", 41},
                        {"lazy.weight", ones({2, 3})},
                        {"lazy.bias", ones({2})}};
  for (const bool assign : {false, true}) {
    EXPECT_EQ(error_of<RuntimeError>([&] { model->load_state_dict(state, {.assign = assign}); }),
              "too late");
    EXPECT_EQ(model->counter->count, 0);
    EXPECT_EQ(values(model->counter->weight), std::vector<float>{1});
    EXPECT_TRUE(model->lazy->weight.is_uninitialized());
    EXPECT_FALSE(model->built());
  }
  EXPECT_EQ(model(ones({1, 5})).shape(), (Shape{1, 2}));
  EXPECT_EQ(model->lazy->repr(), "Linear(in_features=5, out_features=2, bias=True)");
}

TEST(K5, extra_state_that_throws_half_way_puts_the_rest_back) {
  struct Picky : Counter {
    void set_extra_state(const Value& state) override {
      check<ValueError>(state.get<std::int64_t>() < 100, "too large");
      Counter::set_extra_state(state);
    }
  };
  struct Two : Module {
    Child<Counter> first{this, "first"};
    Child<Picky> second{this, "second"};
  };
  const auto model = make<Two>();
  const StateDict state{{"first.weight", full({1}, 5)},
                        {"first._extra_state", 41},
                        {"second.weight", full({1}, 5)},
                        {"second._extra_state", 410}};
  EXPECT_EQ(error_of<ValueError>([&] { model->load_state_dict(state); }), "too large");
  EXPECT_EQ(model->first->count, 0);
  EXPECT_EQ(values(model->first->weight), std::vector<float>{1});
}

TEST(I3, switches_reach_parameters_without_a_value) {
  const auto model = make<LazyLinear>(2);
  model->requires_grad_(false);
  model->zero_grad();
  static_cast<void>(model(ones({1, 3})));
  EXPECT_FALSE(model->weight.value().requires_grad());
}

TEST(H8, names_that_a_hook_puts_beside_its_modules_own_are_not_looked_at) {
  const auto model = make<Outer>();
  model->inner->register_load_state_dict_pre_hook([](Module&, LoadContext& load) {
    load.state.set("x", ones({1}));
    load.state.set("elsewhere.scale.factor", ones({1}));
  });
  EXPECT_NO_THROW(model->load_state_dict(model->state_dict()));
}

}  // namespace
}  // namespace tessera::nn::contract
