// Rows K1 to K5, K9, H6 to H9, P-4, P-6, X4, X32, X35 and X36: state in and out.
#include <gtest/gtest.h>

#include <sstream>

#include "models.h"
#include "support/error_of.h"
#include "support/values.h"

namespace tessera::nn::contract {
namespace {

using testing_support::error_of;
using testing_support::values;

/// A buffer before a parameter, one that is not saved, and a reserved name.
struct Assorted : Module {
  Buffer mean{this, "mean", zeros({2})};
  Parameter weight{this, "weight", {2}, init::ones()};
  Buffer scratch{this, "scratch", zeros({1}), false};
  Parameter bias = register_parameter("bias", nullptr);
  Child<Scale> scale{this, "scale"};
};

/// One slot under two names.
struct TwoNames : Module {
  Child<Scale> a{this, "a"};
  Child<Scale> b{this, "b"};
  TwoNames() { b->factor.tie(a->factor); }
};

struct BreakableCounter : Module, HasExtraState {
  Parameter weight{this, "weight", {1}, init::ones()};
  std::int64_t count = 0;
  bool broken = false;
  [[nodiscard]] Value get_extra_state() const override { return count; }
  void set_extra_state(const Value& state) override {
    check<ValueError>(!broken, "Counter: broken");
    count = state.get<std::int64_t>();
  }
  [[nodiscard]] int state_version() const override { return 3; }
};

struct Holder : Module {
  Child<BreakableCounter> counter{this, "counter"};
  Child<Scale> scale{this, "scale"};
};

TEST(K1, parameters_before_buffers_before_children) {
  EXPECT_EQ(names_of(make<Assorted>()->state_dict()), "weight mean scale.factor ");
}

TEST(K1, values_are_detached_and_share_memory) {
  const auto model = make<Scale>();
  const Tensor saved = model->state_dict().tensor("factor");
  EXPECT_FALSE(saved.requires_grad());
  EXPECT_EQ(saved.raw_data(), model->factor.value().raw_data());
  EXPECT_TRUE(model->state_dict({.keep_vars = true}).tensor("factor").requires_grad());
}

TEST(K1, ties_appear_under_every_name) {
  EXPECT_EQ(names_of(make<TwoNames>()->state_dict()), "a.factor b.factor ");
}

TEST(K1, fills_a_destination) {
  StateDict all{{"first", ones({1})}};
  const StateDict returned = make<Scale>()->state_dict({.destination = &all, .prefix = "net."});
  EXPECT_EQ(names_of(all), "first net.factor ");
  EXPECT_EQ(names_of(returned), "first net.factor ");
}

TEST(X32, the_prefix_is_pasted_as_it_is) {
  EXPECT_EQ(names_of(make<Scale>()->state_dict({.prefix = "net"})), "netfactor ");
  EXPECT_EQ(names_of(make<Scale>()->named_parameters({.prefix = "net"})), "net.factor ");
  for (const char* path : {"net", "net."}) {
    EXPECT_EQ(names_of(make<Scale>()->state_dict({.prefix = prefix_of(path)})), "net.factor ");
  }
  EXPECT_EQ(prefix_of(""), "");
}

TEST(K2, copies_into_the_tensors_that_are_there) {
  const auto model = make<Scale>();
  const Tensor before = model->factor;
  model->load_state_dict({{"factor", full({3}, 7, {.dtype = DType::f64})}});
  EXPECT_TRUE(before.is(model->factor));
  EXPECT_EQ(before.dtype(), DType::f32);
  EXPECT_EQ(values(before), (std::vector<float>{7, 7, 7}));
}

TEST(P_6, assign_takes_the_given_tensors) {
  const auto model = make<TwoNames>();
  model->a->factor.requires_grad_(false);
  const Tensor given = full({3}, 5, {.dtype = DType::f64});
  model->load_state_dict({{"a.factor", given}, {"b.factor", given}}, {.assign = true});
  EXPECT_EQ(model->a->factor.value().raw_data(), given.raw_data());
  EXPECT_EQ(model->a->factor.value().dtype(), DType::f64);
  EXPECT_FALSE(model->a->factor.value().requires_grad());
  EXPECT_EQ(model->a->factor.slot(), model->b->factor.slot());
  EXPECT_FALSE(given.requires_grad());
}

TEST(X4, assign_and_strict_are_options) {
  const auto model = make<Scale>();
  const LoadResult result =
      model->load_state_dict({{"other", ones({3})}}, {.strict = false, .assign = true});
  EXPECT_EQ(result.missing_keys, std::vector<std::string>{"factor"});
  EXPECT_EQ(result.unexpected_keys, std::vector<std::string>{"other"});
}

TEST(K3, all_problems_at_once_and_nothing_changed) {
  const auto model = make<Assorted>();
  const StateDict bad{{"weight", ones({3})},
                      {"scale.factor", 3},
                      {"scale.more", ones({1})},
                      {"odd.weight", ones({1})}};
  EXPECT_EQ(
      error_of<RuntimeError>([&] { model->load_state_dict(bad); }),
      "load_state_dict(Assorted): 5 problems\n\tmissing: \"mean\"\n\tunexpected: \"odd.weight\", "
      "\"scale.more\"\n\tshape of \"weight\": file (3,), module (2,)\n\t\"scale.factor\": not "
      "a tensor");
  EXPECT_EQ(values(model->weight), (std::vector<float>{1, 1}));
}

TEST(K3, dtypes_that_would_lose_something_are_refused) {
  const auto model = make<Scale>();
  const StateDict complex{{"factor", zeros({3}, {.dtype = DType::c64})}};
  const StateDict whole{{"factor", zeros({3}, {.dtype = DType::i64})}};
  EXPECT_EQ(error_of<RuntimeError>([&] { model->load_state_dict(complex); }),
            "load_state_dict(Scale): 1 problem\n\tdtype of \"factor\": file c64, module f32");
  EXPECT_EQ(error_of<RuntimeError>([&] { model->load_state_dict(whole, {.assign = true}); }),
            "load_state_dict(Scale): 1 problem\n\tdtype of \"factor\": file i64, module f32");
  model->load_state_dict(whole);
  EXPECT_EQ(values(model->factor), (std::vector<float>{0, 0, 0}));
}

TEST(X36, wrong_sizes_fail_even_when_not_strict) {
  const auto model = make<Scale>();
  EXPECT_THROW(model->load_state_dict({{"factor", ones({2})}}, {.strict = false}), RuntimeError);
}

TEST(X35, keys_of_reserved_names_are_unexpected) {
  const auto model = make<Assorted>();
  StateDict state = model->state_dict();
  state.set("bias", ones({2}));
  EXPECT_THROW(model->load_state_dict(state), RuntimeError);
  EXPECT_EQ(model->load_state_dict(state, {.strict = false}).unexpected_keys,
            std::vector<std::string>{"bias"});
}

TEST(K4, one_element_fits_a_number) {
  const auto model = make<Leaf>();
  model->register_buffer("count", zeros({}));
  model->load_state_dict({{"count", ones({1})}});
  EXPECT_EQ(model->get_buffer("count")->item<float>(), 1);
}

TEST(K4, what_is_reported_prints) {
  const auto model = make<Scale>();
  std::ostringstream text;
  text << model->load_state_dict(model->state_dict()) << '\n'
       << model->load_state_dict({{"a", ones({1})}, {"b", ones({1})}}, {.strict = false});
  EXPECT_EQ(text.str(), "all keys matched\nmissing: \"factor\"; unexpected: \"a\", \"b\"");
}

TEST(K5, extra_state_is_saved_and_set) {
  const auto source = make<Holder>();
  source->counter->count = 41;
  const StateDict state = source->state_dict();
  EXPECT_EQ(names_of(state), "counter.weight counter._extra_state scale.factor ");
  const auto target = make<Holder>();
  target->load_state_dict(state);
  EXPECT_EQ(target->counter->count, 41);
}

TEST(K5, missing_and_unexpected_extra_state) {
  EXPECT_EQ(make<BreakableCounter>()
                ->load_state_dict({{"weight", ones({1})}}, {.strict = false})
                .missing_keys,
            std::vector<std::string>{"_extra_state"});
  const StateDict state{{"factor", ones({3})}, {"_extra_state", 1}};
  EXPECT_EQ(make<Scale>()->load_state_dict(state, {.strict = false}).unexpected_keys,
            std::vector<std::string>{"_extra_state"});
}

TEST(K5, a_set_extra_state_that_throws_changes_nothing) {
  const auto model = make<Holder>();
  StateDict state = model->state_dict();
  state.set("scale.factor", full({3}, 9));
  model->counter->broken = true;
  EXPECT_EQ(error_of<ValueError>([&] { model->load_state_dict(state); }), "Counter: broken");
  EXPECT_EQ(values(model->scale->factor), (std::vector<float>{2, 2, 2}));
}

TEST(K9, versions_by_path) {
  const StateDict state = make<Holder>()->state_dict();
  EXPECT_EQ(names_of(state.metadata()), " counter scale ");
  EXPECT_EQ(state.metadata().at("counter").at("version").get<std::int64_t>(), 3);
  EXPECT_EQ(state.metadata().at("").at("version").get<std::int64_t>(), 1);
}

TEST(H6, runs_before_its_modules_part_is_written) {
  const auto model = make<Holder>();
  model->scale->register_state_dict_pre_hook(
      [](Module& module, std::string_view prefix, bool keep) {
        EXPECT_EQ(prefix, "scale.");
        EXPECT_TRUE(keep);
        static_cast<Scale&>(module).factor.slot()->value = full({3}, 8);
      });
  const StateDict state = model->state_dict({.keep_vars = true});
  EXPECT_EQ(values(state.tensor("scale.factor")), (std::vector<float>{8, 8, 8}));
}

TEST(H7, sees_the_part_of_all_below_and_edits_it) {
  const auto model = make<Outer>();
  const RemovableHandle handle = model->inner->register_state_dict_post_hook(
      [](Module&, StateDict& state, std::string_view prefix, Metadata& metadata) {
        EXPECT_EQ(prefix, "inner.");
        EXPECT_EQ(names_of(state), "inner.offset inner.scale.factor ");
        state.erase("inner.offset");
        metadata.set("note", "short");
      });
  const StateDict state = model->state_dict();
  EXPECT_EQ(names_of(state), "inner.scale.factor last.factor ");
  EXPECT_EQ(state.metadata().at("inner").at("note").get<std::string>(), "short");
  handle.remove();
  EXPECT_EQ(model->state_dict().size(), 3U);
}

TEST(P_4, names_change_on_saving_and_old_ones_load) {
  const auto model = make<Outer>();
  model->last->register_state_dict_post_hook(
      [](Module&, StateDict& state, std::string_view prefix, Metadata&) {
        const std::string name(prefix);
        state.set(name + "gain", state.at(name + "factor"));
        state.erase(name + "factor");
      });
  model->last->register_load_state_dict_pre_hook([](Module&, LoadContext& load) {
    EXPECT_EQ(names_of(load.state), "last.gain ");
    EXPECT_TRUE(load.strict);
    load.state.set(load.prefix + "factor", load.state.at(load.prefix + "gain"));
    load.state.erase(load.prefix + "gain");
  });
  const StateDict state = model->state_dict();
  EXPECT_EQ(names_of(state), "inner.offset inner.scale.factor last.gain ");
  model->load_state_dict(state, {.strict = true});
  EXPECT_TRUE(state.contains("last.gain"));  // hooks edit a copy
}

TEST(H8, may_report_problems) {
  const auto model = make<Outer>();
  model->inner->register_load_state_dict_pre_hook([](Module&, LoadContext& load) {
    EXPECT_EQ(load.metadata.at("version").get<std::int64_t>(), 1);
    load.errors.push_back("inner is too old");
  });
  EXPECT_EQ(error_of<RuntimeError>([&] { model->load_state_dict(model->state_dict()); }),
            "load_state_dict(Outer): 1 problem\n\tinner is too old");
}

TEST(H9, clearing_the_lists_lets_a_strict_load_pass) {
  const auto model = make<Scale>();
  model->register_load_state_dict_post_hook(
      [](Module&, LoadResult& result) { result.missing_keys.clear(); });
  EXPECT_TRUE(model->load_state_dict({}).missing_keys.empty());
}

TEST(H9, adding_to_the_lists_fails_and_puts_everything_back) {
  const auto model = make<Outer>();
  std::vector<std::string> order;
  model->inner->register_load_state_dict_post_hook(
      [&](Module&, LoadResult&) { order.emplace_back("inner"); });
  model->register_load_state_dict_post_hook([&](Module&, LoadResult& result) {
    order.emplace_back("outer");
    result.missing_keys.emplace_back("something");
  });
  StateDict state = model->state_dict();
  state.set("last.factor", full({3}, 6));
  EXPECT_EQ(error_of<RuntimeError>([&] { model->load_state_dict(state); }),
            "load_state_dict(Outer): 1 problem\n\tmissing: \"something\"");
  EXPECT_EQ(order, (std::vector<std::string>{"inner", "outer"}));
  EXPECT_EQ(values(model->last->factor), (std::vector<float>{2, 2, 2}));
}

TEST(H9, a_hook_that_throws_after_assign_puts_everything_back) {
  const auto model = make<Scale>();
  const Tensor before = model->factor;
  model->register_load_state_dict_post_hook([](Module&, LoadResult&) { fail<RuntimeError>("no"); });
  const StateDict state{{"factor", full({3}, 6, {.dtype = DType::f64})}};
  EXPECT_EQ(error_of<RuntimeError>([&] { model->load_state_dict(state, {.assign = true}); }), "no");
  EXPECT_TRUE(before.is(model->factor));
  EXPECT_EQ(model->factor.slot()->dtype, DType::f32);
  EXPECT_TRUE(model->factor.value().requires_grad());
}

TEST(StateDict, keeps_order_through_changes) {
  StateDict state{{"a", 1}, {"b", 2}, {"c", 3}};
  EXPECT_TRUE(state.erase("a"));
  EXPECT_FALSE(state.erase("a"));
  state.set("c", 4);
  state.set("a", 5);
  EXPECT_EQ(names_of(state), "b c a ");
  EXPECT_EQ(state.at("c").get<std::int64_t>(), 4);
  EXPECT_EQ(error_of<KeyError>([&] { static_cast<void>(state.at("x")); }),
            "state dict: no \"x\" among 3 names");
  EXPECT_THROW(static_cast<void>(state.tensor("a")), TypeError);
}

}  // namespace
}  // namespace tessera::nn::contract
