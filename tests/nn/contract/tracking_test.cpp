// Rows D5, G1 to G5, I-8, I-9 and X30: what the modules below a called one return.
#include <gtest/gtest.h>

#include <complex>

#include <tessera/nn/tracking/expected_returns.h>
#include <tessera/nn/tracking/submod_trace.h>

#include "models.h"
#include "support/error_of.h"

namespace tessera::nn::contract {
namespace {

using testing_support::error_of;

/// Calls `shared` twice.
struct Twice : Module {
  Child<Inner> inner{this, "inner"};
  Child<Scale> shared{this, "shared"};
  Tensor forward(const Tensor& x) const { return shared(shared(inner(x))); }
};

std::string keys_after(const CallOptions& options) {
  const auto model = make<Twice>();
  model(ones({3}), options);
  return names_of(last_trace().rets);
}

TEST(I_8, keys_at_every_depth) {
  EXPECT_EQ(keys_after({.track_submod_rets = true}), "  Scale_0  Inner_0  Scale_1 ");
  EXPECT_EQ(keys_after({.track_submod_rets = true, .submod_depth = 1}), " Inner_0  Scale_1 ");
  EXPECT_EQ(keys_after({.track_submod_rets = true, .submod_depth = 2}),
            "  Scale_0  Inner_0  Scale_1 ");
}

TEST(G2, depth_counts_levels_below_the_called_module) {
  EXPECT_EQ(keys_after({.track_submod_rets = true, .submod_depth = 0}), "");
  const auto model = make<Twice>();
  model->inner(ones({3}), CallOptions{.track_submod_rets = true, .submod_depth = 1});
  EXPECT_EQ(names_of(last_trace().rets), " Scale_0 ");
}

TEST(X30, depth_n_includes_level_n) {
  struct Deep : Module {
    Child<Twice> twice{this, "twice"};
    Tensor forward(const Tensor& x) const { return twice(x); }
  };
  const auto levels = [](int depth) {
    make<Deep>()(ones({3}), CallOptions{.track_submod_rets = true, .submod_depth = depth});
    return last_trace().rets.size();
  };
  EXPECT_EQ(levels(1), 1U);
  EXPECT_EQ(levels(2), 3U);
  EXPECT_EQ(levels(3), 4U);
}

TEST(G3, a_list_and_a_depth_both_count) {
  const auto model = make<Twice>();
  const CallOptions options{.track_submod_rets = true,
                            .submod_depth = 1,
                            .submods_to_track = {&*model->shared, &*model->inner->scale}};
  model(ones({3}), options);
  EXPECT_EQ(names_of(last_trace().rets), " Scale_1 ");
}

TEST(G3, chosen_modules_alone) {
  const auto model = make<Twice>();
  model(ones({3}), CallOptions{.track_submod_rets = true, .submods_to_track = {&*model->shared}});
  EXPECT_EQ(names_of(last_trace().rets), " Scale_1 ");
}

TEST(G1, a_module_called_twice_has_two_entries) {
  const auto model = make<Twice>();
  const Tensor x = ones({3}).set_requires_grad(true);
  model(x, CallOptions{.track_submod_rets = true});
  const SubmodReturns& shared = last_trace().rets.at(" Scale_1");
  EXPECT_EQ(shared.path, "shared");
  ASSERT_EQ(shared.outputs.size(), 2U);
  EXPECT_EQ(shared.outputs[0].tensor().to_vector<float>(), (std::vector<float>{6, 6, 6}));
  EXPECT_EQ(shared.outputs[1].tensor().to_vector<float>(), (std::vector<float>{12, 12, 12}));
  EXPECT_FALSE(shared.outputs[1].tensor().requires_grad());
  EXPECT_EQ(last_trace().rets.at("  Scale_0").path, "inner.scale");
}

TEST(G1, records_what_the_parent_receives) {
  const auto model = make<Twice>();
  model->inner->register_forward_hook(
      [](const Module&, const Args&, const Value&) { return zeros({3}); });
  model(ones({3}), CallOptions{.track_submod_rets = true});
  EXPECT_EQ(last_trace().rets.at(" Inner_0").outputs[0].tensor().to_vector<float>(),
            (std::vector<float>{0, 0, 0}));
}

TEST(G4, calls_in_order_with_their_variables) {
  const auto model = make<Twice>();
  model(ones({3}), CallOptions{.track_submod_call_order = true});
  const CallTree& root = last_trace().call_order;
  EXPECT_EQ(names_of(root.calls), "Twice_0_0 ");
  const CallTree& top = root.calls.at("Twice_0_0");
  EXPECT_EQ(names_of(top.calls), " Inner_0_0  Scale_1_0  Scale_1_1 ");
  EXPECT_EQ(names_of(top.calls.at(" Inner_0_0").calls), "  Scale_0_0 ");
  EXPECT_EQ(names_of(top.calls.at(" Scale_1_1").variables.leaves()), "shared.factor ");
  EXPECT_TRUE(top.calls.at(" Inner_0_0").variables.empty());
}

TEST(G4, the_deepest_level_and_chosen_modules_hold_their_variables) {
  const auto model = make<Twice>();
  const auto inner_of = [&](CallOptions options) {
    options.track_submod_call_order = true;
    model(ones({3}), options);
    return last_trace().call_order.calls.at("Twice_0_0").calls.at(" Inner_0_0");
  };
  for (const CallOptions& options :
       {CallOptions{.submod_depth = 1}, CallOptions{.submods_to_track = {&*model->inner}}}) {
    const CallTree inner = inner_of(options);
    EXPECT_TRUE(inner.calls.empty());
    EXPECT_EQ(names_of(inner.variables.leaves()), "inner.offset inner.scale.factor ");
    EXPECT_FALSE(inner.variables.at("inner.offset").shares_storage(model->inner->offset.value()));
  }
  EXPECT_EQ(names_of(inner_of({}).calls), "  Scale_0_0 ");
}

TEST(G1, numbers_are_remembered_across_calls) {
  const auto model = make<Twice>();
  const CallOptions chosen{.track_submod_rets = true, .submods_to_track = {&*model->shared}};
  model(ones({3}), CallOptions{.track_submod_rets = true});
  model(ones({3}), chosen);
  EXPECT_EQ(names_of(last_trace().rets), " Scale_1 ");
}

TEST(G1, paths_are_those_of_the_call_from_the_called_module) {
  const auto model = make<Twice>();
  model->inner(ones({3}), CallOptions{.track_submod_rets = true});
  EXPECT_EQ(last_trace().rets.at(" Scale_0").path, "scale");
}

TEST(D5, a_shared_child_stands_where_the_call_under_way_came_through) {
  struct Second : Module {
    Child<Scale> again{this, "again"};
    Tensor forward(const Tensor& x) const { return again(x); }
  };
  struct Parents : Module {
    Child<Inner> first{this, "first"};
    Child<Second> second{this, "second"};
    Parents() { second->set_submodule("again", first->scale.ptr()); }
    Tensor forward(const Tensor& x) const { return second(first(x)); }
  };
  const auto model = make<Parents>();
  std::string seen;
  model->first->scale->register_forward_hook([&](const Module& m, const Args&, const Value&) {
    seen += m.get_mod_key() + " below " + m.top_mod(1).class_name() + ", ";
    EXPECT_EQ(m.mod_depth(), 2);
    EXPECT_EQ(&m.top_mod(), model.get());
  });
  model(ones({3}));
  EXPECT_EQ(seen, "first.scale below Inner, second.again below Second, ");
  EXPECT_EQ(model->first->scale->get_mod_key(), "first.scale");
}

TEST(G1, records_begin_anew_with_each_call_and_any_module_may_be_the_root) {
  const auto model = make<Twice>();
  model(ones({3}), CallOptions{.track_submod_rets = true});
  model->inner(ones({3}), CallOptions{.track_submod_rets = true});
  EXPECT_EQ(names_of(last_trace().rets), " Scale_0 ");
  model(ones({3}));
  EXPECT_EQ(names_of(last_trace().rets), " Scale_0 ");
}

ExpectedReturns expected(std::vector<double> shared) {
  ExpectedModule module;
  for (const double value : shared) {
    module.values.emplace_back(full({3}, value));
  }
  return {{"Scale_1", module}};
}

std::string failure(const ExpectedReturns& returns) {
  const auto model = make<Twice>();
  return error_of<CheckFailure>(
      [&] { model(ones({3}), CallOptions{.expected_submod_rets = &returns}); });
}

TEST(I_9, recorded_values_pass_and_others_fail) {
  EXPECT_EQ(failure(expected({6, 12})), "no error");
  EXPECT_EQ(failure(expected({6, 12.5})),
            "return 1 of \"Scale_1\": not as expected; the largest difference is 0.5, relative "
            "0.04, in module shared");
  EXPECT_EQ(failure(expected({6})),
            "return 1 of \"Scale_1\": expected 1 calls only, in module shared");
  EXPECT_EQ(failure(expected({6, 12, 24})), "\"Scale_1\" was called 2 times, expected 3");
}

TEST(G5, checked_returns_are_recorded_too) {
  const ExpectedReturns returns = expected({6, 12});
  make<Twice>()(ones({3}), CallOptions{.expected_submod_rets = &returns});
  EXPECT_EQ(names_of(last_trace().rets), "  Scale_0  Inner_0  Scale_1 ");
}

TEST(G5, tolerances_and_values_that_may_be_anything) {
  ExpectedReturns returns{
      {" Scale_1", {.values = {Value(), full({3}, 12.5)}, .atol = {0, 1}, .rtol = {0}}}};
  EXPECT_EQ(failure(returns), "no error");
  returns.set("Scale_7", {.values = {ones({3})}});
  EXPECT_EQ(failure(returns), "\"Scale_7\" was called 0 times, expected 1");
}

/// Gives a value of the kind that it was made with.
struct Giving : Module {
  explicit Giving(Value value) : value_(std::move(value)) {}
  [[nodiscard]] Value forward() const { return value_; }

 private:
  Value value_;
};
struct Asking : Module {
  explicit Asking(const Value& value) : child(this, "child", value) {}
  Child<Giving> child;
  [[nodiscard]] Value forward() const { return child(); }
};

std::string comparison(const Value& got, const Value& wanted) {
  const ExpectedReturns returns{{"Giving_0", {.values = {wanted}}}};
  const auto model = make<Asking>(got);
  const std::string text = error_of<CheckFailure>(
      [&] { static_cast<void>(model(CallOptions{.expected_submod_rets = &returns})); });
  const std::size_t colon = text.find(": ");
  const std::size_t where = text.rfind(", in module child");
  return colon == std::string::npos ? text : text.substr(colon + 2, where - colon - 2);
}

TEST(I_9, values_of_every_kind_are_compared) {
  const Tensor wave = from_values<std::complex<float>>({{1, 2}}, {1});
  const Tensor other = from_values<std::complex<float>>({{1, 3}}, {1});
  const Value::Map map{{"a", 1}, {"b", ones({1})}};
  const std::vector<Value> kinds{true, 3, 1.5, "text", Value::Bytes{std::byte{1}}, wave, map};
  for (const Value& value : kinds) {
    EXPECT_EQ(comparison(value, value), "no error");
  }
  EXPECT_EQ(comparison(true, false), "got 1, expected 0");
  EXPECT_EQ(comparison("text", "word"), "got text, expected word");
  EXPECT_EQ(comparison(Value::Bytes{std::byte{1}}, Value::Bytes{std::byte{2}}), "got other bytes");
  EXPECT_EQ(comparison(wave, other),
            "not as expected; the largest difference is 1, relative "
            "0.316228");
  EXPECT_EQ(comparison(map, Value::Map{{"a", 1}}), "got 2 names, expected 1");
  EXPECT_EQ(comparison(map, Value::Map{{"a", 1}, {"c", 1}}), "got no \"c\"");
  EXPECT_EQ(comparison(map, Value::Map{{"b", ones({1})}, {"a", 2}}), "got 1, expected 2");
  const Value object(Value::Object{1.5F});
  EXPECT_EQ(comparison(object, object), "an object cannot be compared");
}

TEST(G1, a_map_is_recorded_as_copies_off_the_tape) {
  const Tensor x = ones({1}).set_requires_grad(true);
  make<Asking>(Value::Map{{"x", x}})(CallOptions{.track_submod_rets = true});
  const auto& map = last_trace().rets.at(" Giving_0").outputs[0].get<Value::Map>();
  EXPECT_FALSE(map.at("x").tensor().shares_storage(x));
  EXPECT_FALSE(map.at("x").tensor().requires_grad());
}

}  // namespace
}  // namespace tessera::nn::contract
