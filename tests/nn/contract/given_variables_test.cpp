// Rows A6, A7, A9, I-1, I-2, I-5: modules that are given their variables, or do not keep them.
#include <gtest/gtest.h>

#include <tessera/core/base/context.h>
#include <tessera/core/ops/sum.h>
#include <tessera/nn/init/normal.h>
#include <tessera/nn/layers/dropout.h>

#include "models.h"
#include "support/error_of.h"
#include "support/values.h"

namespace tessera::nn::contract {
namespace {

using testing_support::error_of;
using testing_support::values;

struct PlainMlp : Module {
  Child<Linear> hidden{this, "hidden", 3, 4};
  Child<Linear> last{this, "last", 4, 2};
  Tensor forward(const Tensor& x) const { return last(hidden(x)); }
};

/// Reads values, so that only a call can tell what it calls.
struct ReadsSum : Module {
  Child<Linear> small{this, "small", 3, 2};
  Child<Linear> large{this, "large", 3, 4};
  Tensor forward(const Tensor& x) const { return sum(x).item<float>() < 100 ? small(x) : large(x); }
};

// --- A6, A7, I-1, I-2: given variables -----------------------------------------------------------

Variables given_for_mlp() {
  Variables v;
  v.set("hidden.weight", full({4, 3}, 1));
  v.set("hidden.bias", full({4}, 2));
  v.set("last.weight", full({2, 4}, 3));
  v.set("last.bias", full({2}, 4));
  return v;
}

TEST(A6, given_variables_are_used_in_place_of_new_ones) {
  const Variables v = given_for_mlp();
  for (const auto mode : {BuildMode::on_init, BuildMode::explicitly, BuildMode::on_call}) {
    const auto model = make<PlainMlp>(ModuleOptions{.v = v, .build_mode = mode});
    model->build();
    EXPECT_EQ(values(model(ones({1, 3}))), (std::vector<float>{64, 64})) << to_string(mode);
    EXPECT_TRUE(model->last->weight.value().requires_grad());
    EXPECT_TRUE(model->last->weight.value().shares_storage(v.at("last.weight")));
    EXPECT_FALSE(v.at("last.weight").requires_grad()) << "the caller's handle is left alone";
  }
}

TEST(I_1, all_differences_in_one_error) {
  Variables v = given_for_mlp();
  v.set("last.weight", full({2, 5}, 3));
  v.set("last.bias", full({2}, 4, {.dtype = DType::f64}));
  v.set("extra.weight", ones({1}));
  Variables missing;
  for (const auto& [name, leaf] : v.leaves()) {
    if (name != "hidden.bias") {
      missing.set(name, leaf);
    }
  }
  const std::string expected =
      "PlainMlp: given other variables than it has\n"
      "missing: \"hidden.bias\"\n"
      "shape of \"last.weight\": got (2, 5), expected (2, 4)\n"
      "dtype of \"last.bias\": got f64, expected f32\n"
      "superfluous: \"extra.weight\"";
  EXPECT_EQ(error_of<StructureError>([&] { make<PlainMlp>(ModuleOptions{.v = missing}); }),
            expected);
  const auto on_call =
      make<PlainMlp>(ModuleOptions{.v = missing, .build_mode = BuildMode::on_call});
  EXPECT_EQ(error_of<StructureError>([&] {
              on_call(ones({1, 3}));
            }),
            expected)
      << "before anything is computed";
  const auto explicitly =
      make<PlainMlp>(ModuleOptions{.v = missing, .build_mode = BuildMode::explicitly});
  EXPECT_EQ(error_of<StructureError>([&] { explicitly->build(); }), expected);
}

TEST(I_2, part_of_the_variables) {
  set_seed(7);
  Variables v;
  v.set("last.bias", full({2}, 4));
  const auto whole = make<PlainMlp>();
  set_seed(7);
  const auto model = make<PlainMlp>(ModuleOptions{.v = v, .with_partial_v = true});
  EXPECT_EQ(values(model->last->bias), (std::vector<float>{4, 4}));
  EXPECT_EQ(values(model->hidden->weight), values(whole->hidden->weight));
  EXPECT_EQ(error_of<StructureError>([&] { make<PlainMlp>(ModuleOptions{.v = v}); }),
            "PlainMlp: given other variables than it has\nmissing: \"hidden.weight\"\n"
            "missing: \"hidden.bias\"\nmissing: \"last.weight\"");
  v.set("last.weights", full({2}, 4));
  EXPECT_EQ(error_of<StructureError>(
                [&] { make<PlainMlp>(ModuleOptions{.v = v, .with_partial_v = true}); }),
            "PlainMlp: given other variables than it has\nsuperfluous: \"last.weights\"");
  EXPECT_NO_THROW(make<PlainMlp>(ModuleOptions{.v = Variables(), .with_partial_v = true}));
}

TEST(A7, part_of_the_variables_must_have_their_shapes) {
  Variables v;
  v.set("last.bias", full({3}, 4));
  v.set("hidden.weight", full({4, 3}, 1, {.dtype = DType::f64}));
  EXPECT_EQ(error_of<StructureError>(
                [&] { make<PlainMlp>(ModuleOptions{.v = v, .with_partial_v = true}); }),
            "PlainMlp: given other variables than it has\n"
            "dtype of \"hidden.weight\": got f64, expected f32\n"
            "shape of \"last.bias\": got (3,), expected (2,)");
}

TEST(A6, variables_of_a_tied_model_name_what_is_tied_once) {
  Variables v;
  v.set("inner.scale.factor", full({3}, 5));
  const auto model = make<TiedOuter>(ModuleOptions{.v = v});
  EXPECT_EQ(model->last->factor.slot(), model->inner->scale->factor.slot());
  EXPECT_EQ(values(model->last->factor), (std::vector<float>{5, 5, 5}));
  v.set("last.factor", full({3}, 5));
  EXPECT_THROW(make<TiedOuter>(ModuleOptions{.v = v}), StructureError);
}

TEST(A6, a_childs_own_variables) {
  struct Parent : Module {
    explicit Parent(const Variables& v) : body(this, "body", ModuleOptions{.v = v}) {}
    Child<PlainMlp> body;
  };
  EXPECT_EQ(values(make<Parent>(given_for_mlp())->body->last->bias), (std::vector<float>{4, 4}));
}

TEST(A6, the_verdict_of_a_forward_that_reads_values_comes_with_its_call) {
  Variables v;
  v.set("small.weight", full({2, 3}, 1));
  v.set("small.bias", full({2}, 1));
  v.set("large.weight", full({4, 3}, 1));
  v.set("large.bias", full({4}, 1));
  const auto model = make<ReadsSum>(ModuleOptions{.v = v, .build_mode = BuildMode::on_call});
  EXPECT_EQ(values(model(ones({1, 3}))), (std::vector<float>{4, 4}));
  EXPECT_FALSE(model->built()) << "one branch was not taken";
  EXPECT_EQ(values(model(full({1, 3}, 100))), (std::vector<float>{301, 301, 301, 301}));
  EXPECT_TRUE(model->built());
  v.set("large.bias", full({5}, 1));
  const auto wrong = make<ReadsSum>(ModuleOptions{.v = v, .build_mode = BuildMode::on_call});
  wrong(ones({1, 3}));
  EXPECT_EQ(error_of<StructureError>([&] {
              wrong(full({1, 3}, 100));
            }),
            "ReadsSum: given other variables than it has\n"
            "shape of \"large.bias\": got (5,), expected (4,)");
}

TEST(A6, trying_out_a_forward_runs_no_hook_and_draws_nothing) {
  struct Noisy : Module {
    Child<Linear> body{this, "body", 3, 3};
    Child<Dropout> noise{this, "noise", 0.5};
    Tensor forward(const Tensor& x) const { return noise(body(x)); }
  };
  Variables v;
  v.set("body.weight", full({3, 3}, 1));
  v.set("body.bias", full({3}, 1));
  const auto plain = make<Noisy>(ModuleOptions{.v = v});
  const auto tried = make<Noisy>(ModuleOptions{.v = v, .build_mode = BuildMode::on_call});
  int calls = 0;
  tried->register_forward_hook([&](const Module&, const Args&, const Value&) { ++calls; });
  const auto alone = [](const Ptr<Noisy>& model) {
    const ContextScope fresh(std::make_shared<Context>());
    return values(model(ones({4, 3})));
  };
  EXPECT_EQ(alone(tried), alone(plain));
  EXPECT_EQ(calls, 1);
}

// --- A9, I-5: variables that are not kept --------------------------------------------------------

TEST(I_5, parameters_that_are_not_kept) {
  set_seed(7);
  const auto stored = make<PlainMlp>();
  set_seed(7);
  const auto model =
      make<PlainMlp>(ModuleOptions{.build_mode = BuildMode::explicitly, .store_vars = false});
  const BuildStatus status = model->build();
  EXPECT_EQ(values(status.variables.at("last.weight")), values(stored->last->weight));
  EXPECT_TRUE(
      error_of<RuntimeError>([&] {
        model(ones({1, 3}));
      })
          .ends_with(
              "\": built with store_vars off; every call needs CallOptions::v, in module hidden"));
  const Tensor x = ones({1, 3});
  EXPECT_EQ(values(model(x, CallOptions{.v = &status.variables})), values(stored(x)));
  EXPECT_FALSE(model->last->weight.slot()->value.defined());
}

TEST(A9, in_every_mode) {
  const Variables v = given_for_mlp();
  for (const auto mode : {BuildMode::on_init, BuildMode::explicitly, BuildMode::on_call}) {
    const auto model = make<PlainMlp>(ModuleOptions{.build_mode = mode, .store_vars = false});
    model->build();
    EXPECT_EQ(values(model(ones({1, 3}), CallOptions{.v = &v})), (std::vector<float>{64, 64}));
  }
}

TEST(A9, given_variables_are_what_build_returns) {
  const Variables v = given_for_mlp();
  for (const auto mode : {BuildMode::on_init, BuildMode::explicitly}) {
    const auto model =
        make<PlainMlp>(ModuleOptions{.v = v, .build_mode = mode, .store_vars = false});
    const Variables built = model->build().variables;
    EXPECT_FALSE(model->last->weight.slot()->value.defined());
    EXPECT_TRUE(built.at("last.weight").shares_storage(v.at("last.weight")));
    EXPECT_EQ(values(model(ones({1, 3}), CallOptions{.v = &built})), (std::vector<float>{64, 64}));
  }
}

TEST(A9, a_child_that_keeps_none_is_given_its_part) {
  struct Parent : Module {
    Child<Linear> kept{this, "kept", 2, 2};
    Child<Linear> given{this, "given", ModuleOptions{.store_vars = false}, 2, 2};
  };
  Variables v;
  for (const auto& [name, leaf] : make<Parent>()->build().variables.leaves()) {
    v.set(name, full(leaf.shape(), 7));
  }
  const auto model = make<Parent>(ModuleOptions{.v = v});
  EXPECT_EQ(values(model->build().variables.at("given.bias")), (std::vector<float>{7, 7}));
  EXPECT_EQ(values(model->kept->bias), (std::vector<float>{7, 7}));
}

TEST(I_5, a_tied_parameter_has_the_values_that_it_would_be_kept_with) {
  struct Drawn : Module {
    Parameter weight{this, "weight", {3}, init::normal(0, 1)};
  };
  struct Tied : Module {
    Child<Drawn> first{this, "first"};
    Child<Drawn> second{this, "second"};
    Tied() { second->weight.tie(first->weight); }
  };
  set_seed(7);
  const auto kept = make<Tied>();
  set_seed(7);
  const auto model = make<Tied>(ModuleOptions{.store_vars = false});
  EXPECT_EQ(values(model->build().variables.at("first.weight")), values(kept->first->weight));
}

TEST(I_5, a_state_dict_says_why_it_has_no_values) {
  const auto model = make<Linear>(ModuleOptions{.store_vars = false}, 2, 2);
  EXPECT_EQ(error_of<RuntimeError>([&] { model->state_dict(); }),
            "state_dict: Linear has no \"weight\" yet: built with store_vars off; every call needs "
            "CallOptions::v");
}

}  // namespace
}  // namespace tessera::nn::contract
