// Rows B5, B6, C7, C8, F8, O-4, O-5 and O-8: plain functions as modules.
#include <gtest/gtest.h>

#include <tessera/core/ops/sum.h>
#include <tessera/nn/functional/module_of.h>
#include <tessera/nn/functional/pure.h>
#include <tessera/nn/functional/spec.h>
#include <tessera/nn/state/tree_def.h>

#include "models.h"
#include "support/error_of.h"
#include "support/values.h"

namespace tessera::nn::contract {
namespace {

using testing_support::error_of;
using testing_support::values;

const RandomKey kKey{1, 0};

/// Scales by a variable and counts its calls.
Tensor counting(State& s, const Tensor& x) {
  const Tensor w = s.variable("w", [&] { return full({x.size(-1)}, 3); });
  const Tensor n = s.variable("n", [] { return zeros({}); }, {.trainable = false});
  s.assign("n", n + 1.0);
  return x * w;
}

Tensor plain(State&, const Tensor& x) {
  return x + 1.0;
}

TEST(B5, a_function_becomes_a_module) {
  const auto layer = module_of(counting)(kKey, ones({3}));
  EXPECT_EQ(names_of(layer->named_parameters()), "w ");
  EXPECT_EQ(names_of(layer->named_buffers()), "n ");
  EXPECT_EQ(layer->get_buffer("n")->item(), 0);
  EXPECT_EQ(values(layer(ones({3}))), (std::vector<float>{3, 3, 3}));
  EXPECT_EQ(layer->get_buffer("n")->item(), 1);
  const auto next = update(layer, ones({3}));
  EXPECT_EQ(next->get_buffer("n")->item(), 2);
  EXPECT_EQ(layer->get_buffer("n")->item(), 1);
  EXPECT_TRUE(module_of(plain)(kKey, ones({3}))->variables().empty());
}

TEST(B5, the_key_decides_what_is_drawn) {
  const auto drawing = module_of(
      [](State& s, const Tensor& x) { return x + s.variable("w", [] { return randn({3}); }); });
  const auto w = [&](std::uint64_t seed) {
    return values(drawing(RandomKey{seed, 0}, ones({3}))->v().at("w"));
  };
  EXPECT_EQ(w(1), w(1));
  EXPECT_NE(w(1), w(2));
}

TEST(B5, the_key_is_split_over_the_elements) {
  const auto drawing = [](State& s, const Tensor& x) {
    return x + s.variable("w", [] { return randn({3}); });
  };
  const auto fan = module_of(std::make_tuple(drawing, drawing), "fan")(kKey, ones({3}));
  EXPECT_NE(values(fan->v().at("fan_0.w")), values(fan->v().at("fan_1.w")));
}

TEST(C7, names_are_declared_once_unless_told) {
  const auto twice = [](DeclareMode mode) {
    return module_of([mode](State& s, const Tensor& x) {
      const Tensor a = s.variable("w", [] { return full({1}, 1); });
      const Tensor b = s.variable("w", [] { return full({1}, 2); }, {.mode = mode});
      return x + a * 10.0 + b;
    });
  };
  EXPECT_EQ(error_of<ValueError>([&] { twice(DeclareMode::strict)(kKey, zeros({1})); }),
            "variable: \"w\" is declared twice in one call of module");
  EXPECT_EQ(values(twice(DeclareMode::append)(kKey, zeros({1}))(zeros({1}))),
            std::vector<float>{12});
  EXPECT_EQ(values(twice(DeclareMode::clobber)(kKey, zeros({1}))(zeros({1}))),
            std::vector<float>{22});
  EXPECT_EQ(values(twice(DeclareMode::conditional_clobber)(kKey, zeros({1}))(zeros({1}))),
            std::vector<float>{11});
}

TEST(C8, assigning_what_was_never_declared) {
  const auto wrong = module_of([](State& s, const Tensor& x) {
    s.assign("w", x);
    return x;
  });
  EXPECT_EQ(error_of<ValueError>([&] { wrong(kKey, ones({1})); }),
            "assign: \"w\" is no variable of module");
}

TEST(O_5, named_modules_nest_and_others_are_flat) {
  const auto inner = module_of(counting, "inner")(kKey, ones({3}));
  const auto flat = module_of(counting)(kKey, ones({3}));
  const auto outer = module_of(
      [=](State& s, const Tensor& x) {
        const Tensor b = s.variable("b", [] { return ones({3}); });
        return s.call(flat, s.call(inner, x)) + b;
      },
      "outer")(kKey, ones({3}));
  EXPECT_EQ(names_of(outer->variables().leaves()), "b w n inner.w inner.n ");
  const auto [y, next] = call_and_update(outer, ones({3}));
  EXPECT_EQ(values(y), (std::vector<float>{10, 10, 10}));
  EXPECT_EQ(next->variables().at("inner/n").item(), 1);
  EXPECT_EQ(next->variables().at("n").item(), 1);
  EXPECT_EQ(outer->variables().at("inner/n").item(), 0);
  EXPECT_EQ(update(next, ones({3}))->variables().at("inner.n").item(), 2);
}

TEST(O_5, clashes_are_errors) {
  const auto a = module_of(counting)(kKey, ones({3}));
  const auto b = module_of(counting)(kKey, ones({3}));
  const auto both =
      module_of([=](State& s, const Tensor& x) { return s.call(b, s.call(a, x)); }, "both");
  EXPECT_EQ(error_of<ValueError>([&] { both(kKey, ones({3})); }),
            "both: two of the modules that it calls have a \"w\"; the second is a module, and "
            "neither has a name");
}

TEST(O_7, gradients_with_the_modules_own_shape) {
  const auto layer = module_of(counting)(kKey, ones({3}));
  const auto [value, grads, next] =
      value_and_grad([](const auto& m) { return sum(m(ones({3}))); }, layer);
  EXPECT_EQ(values(grads.at("w")), (std::vector<float>{1, 1, 1}));
  const auto [leaves, definition] = layer->flatten();
  const ModulePtr as_module = Module::unflatten(definition, {{grads.at("w"), Tensor()}});
  EXPECT_EQ(values(as_module->v().at("w")), (std::vector<float>{1, 1, 1}));
}

TEST(O_8, tuples_fan_out_and_lists_compose) {
  const auto fan = module_of(std::make_tuple(counting, plain), "fan")(kKey, ones({3}));
  const auto [a, b] = fan(ones({3}));
  EXPECT_EQ(values(a), (std::vector<float>{3, 3, 3}));
  EXPECT_EQ(values(b), (std::vector<float>{2, 2, 2}));
  EXPECT_EQ(names_of(fan->variables().leaves()), "fan_0.w fan_0.n ");

  using Function = std::function<Tensor(State&, const Tensor&)>;
  const auto chain = module_of(std::vector<Function>{counting, plain, counting}, "chain");
  const auto composed = chain(kKey, ones({3}));
  EXPECT_EQ(values(composed(ones({3}))), (std::vector<float>{12, 12, 12}));
  EXPECT_EQ(names_of(composed->v().leaves()), "chain_0.w chain_2.w ");
  EXPECT_EQ(error_of<ValueError>([] { module_of(std::tuple<>()); }),
            "module_of: an empty tuple makes no module");
  EXPECT_EQ(error_of<ValueError>([] { static_cast<void>(module_of(std::vector<Function>{})); }),
            "module_of: an empty list makes no module");
}

TEST(B6, spec_infers_shapes_without_running) {
  const auto model = make<Sequential>();
  model->add<Linear>(4, 8);
  model->add<Scale>(8);
  EXPECT_EQ(spec(*model, {{2, 4}}), (ArraySpec{{2, 8}}));
  EXPECT_THROW(static_cast<void>(spec(*model, {{2, 4}, DType::f64})), TypeError);
  model->to(DType::f64);
  EXPECT_EQ(spec(*model, {{2, 4}, DType::f64}), (ArraySpec{{2, 8}, DType::f64}));
}

TEST(B6, several_inputs_and_results) {
  struct Several : Scale {
    std::pair<Tensor, std::vector<Tensor>> forward(const Tensor& x, std::int64_t n,
                                                   const Tensor& y) const {
      return {x * factor, std::vector<Tensor>(static_cast<std::size_t>(n), y + y)};
    }
  };
  const auto model = make<Several>();
  int calls = 0;
  model->register_forward_hook([&](const Module&, const Args&, const Value&) { ++calls; });
  const auto [x, ys] = spec(model, ArraySpec{{2, 3}}, std::int64_t{2}, ArraySpec{{4}, DType::f64});
  EXPECT_EQ(x, (ArraySpec{{2, 3}}));
  EXPECT_EQ(ys, (std::vector<ArraySpec>(2, {{4}, DType::f64})));
  EXPECT_EQ(calls, 0);
}

TEST(B6, a_forward_that_reads_values_has_no_spec) {
  struct Reading : Module {
    Tensor forward(const Tensor& x) const { return sum(x).item() > 0 ? x : x + 1.0; }
  };
  EXPECT_THROW(static_cast<void>(spec(*make<Reading>(), {{2}})), Unsupported);
}

}  // namespace
}  // namespace tessera::nn::contract
