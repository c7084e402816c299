// Rows F4, F7, F11, G1 and I-3: what a call put in place is gone when it throws, and a training
// loop on variables given at the call.
#include <gtest/gtest.h>

#include <tessera/core/base/context.h>
#include <tessera/core/device/memory_stats.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/sum.h>
#include <tessera/nn/functional/call_state.h>
#include <tessera/nn/functional/pure.h>
#include <tessera/nn/tracking/expected_returns.h>
#include <tessera/nn/tracking/submod_trace.h>

#include "models.h"
#include "norm_and_dropout.h"
#include "support/error_of.h"
#include "support/values.h"

namespace tessera::nn::contract {
namespace {

using testing_support::error_of;
using testing_support::values;

/// Writes a buffer, then throws when told to, from deep inside.
struct Breaking : Module {
  struct Bomb : Module {
    bool armed = true;
    Tensor forward(const Tensor& x) const {
      check<RuntimeError>(!armed, "boom");
      return x;
    }
  };
  Child<Scale> scale{this, "scale"};
  Child<Bomb> bomb{this, "bomb"};
  Buffer count{this, "count", zeros({})};
  Tensor forward(const Tensor& x) const {
    count.assign(count + 1.0);
    return bomb(scale(x)) + count;
  }
};

/// That the thread's calls are ordinary ones again, and what the model computes is its own.
void expect_as_before(const Ptr<Breaking>& model, double count) {
  const CallState& state = CallState::current();
  EXPECT_EQ(state.frames, nullptr);
  EXPECT_EQ(state.pure, nullptr);
  EXPECT_EQ(state.tracker, nullptr);
  EXPECT_FALSE(state.training.has_value());
  EXPECT_EQ(model->count.value().item(), count);
  EXPECT_EQ(values(model->scale->factor), (std::vector<float>{2, 2, 2}));
}

/// Takes itself out of its parent and fails.
struct Leaving : Module {
  Module* parent = nullptr;
  Tensor forward(const Tensor&) const {
    parent->erase("a_child_whose_name_takes_memory");
    const std::vector<std::string> others(50, std::string(31, 'z'));  // where the name was
    fail<RuntimeError>("boom");
  }
};

TEST(I_3, a_name_that_is_taken_out_in_a_call_lasts_as_long) {
  const auto parent = make<Breaking>();
  const auto child = make<Leaving>();
  child->parent = parent.get();
  parent->register_module("a_child_whose_name_takes_memory", child);
  EXPECT_EQ(error_of([&] { return child(ones({3})); }),
            "boom, in module a_child_whose_name_takes_memory");
}

TEST(F4, given_variables_and_buffers_are_gone_after_an_exception) {
  const auto model = make<Breaking>();
  const Variables v = model->v() * 5;
  const Variables buffers{{"count", full({}, 40)}};
  const std::uint64_t seed = Context::current().seed;
  const CallOptions options{
      .v = &v, .buffers = &buffers, .training = false, .key = RandomKey{seed + 1, 9}};
  EXPECT_EQ(error_of<RuntimeError>([&] { model(ones({3}), options); }), "boom, in module bomb");
  expect_as_before(model, 0);
  EXPECT_EQ(Context::current().seed, seed);
  EXPECT_EQ(buffers.at("count").item(), 40) << "what was given is not written to";
}

TEST(F4, variables_of_an_inner_call_end_with_it) {
  struct Swallowing : Module {
    Child<Breaking> inner{this, "inner"};
    const Variables* given = nullptr;
    Tensor forward(const Tensor& x) const {
      try {
        inner(x, CallOptions{.v = given});
      } catch (const RuntimeError&) {
      }
      return x * inner->scale->factor.value();
    }
  };
  const auto model = make<Swallowing>();
  const Variables inner = model->inner->v() * 5;
  const Variables outer = model->v() * 10;
  model->given = &inner;
  EXPECT_EQ(values(model(ones({3}), CallOptions{.v = &outer})), (std::vector<float>{20, 20, 20}));
  expect_as_before(std::static_pointer_cast<Breaking>(model->inner.ptr()), 1);
}

TEST(F4, tied_names_see_the_one_value_that_is_given) {
  const auto model = make<Outer>();
  model->last->factor.tie(model->inner->scale->factor);
  const Variables v{{"inner", Variables{{"scale", Variables{{"factor", full({3}, 3)}}}}}};
  EXPECT_EQ(values(model(ones({3}), CallOptions{.v = &v})), (std::vector<float>{12, 12, 12}));
}

TEST(F4, every_difference_is_said_before_forward_runs) {
  const auto model = make<Breaking>();
  const Variables wrong{{"scale", Variables{{"factor", ones({4})}, {"more", ones({1})}}},
                        {"odd", ones({1})}};
  EXPECT_EQ(error_of<StructureError>([&] { model(ones({3}), CallOptions{.v = &wrong}); }),
            "Breaking: called with other variables than it has\n"
            "shape of \"scale.factor\": got (4,), expected (3,)\n"
            "superfluous: \"scale.more\"\nsuperfluous: \"odd\"");
  const CallOptions partial{.v = &wrong, .with_partial_v = true};
  EXPECT_THROW(model(ones({3}), partial), StructureError);
  expect_as_before(model, 0);
}

TEST(F7, a_pure_call_that_throws_leaves_nothing_behind) {
  const auto model = make<Breaking>();
  EXPECT_THROW(static_cast<void>(call(model, ones({3}))), RuntimeError);
  EXPECT_THROW(static_cast<void>(update(model, ones({3}))), RuntimeError);
  EXPECT_THROW(static_cast<void>(model->call_and_update(ones({3}))), RuntimeError);
  expect_as_before(model, 0);
  EXPECT_NO_THROW(static_cast<void>(randn({1})));
}

TEST(F11, a_loss_that_throws_leaves_nothing_behind) {
  const auto model = make<Breaking>();
  const auto loss = [](const auto& m) { return sum(m(ones({3}))); };
  EXPECT_THROW(static_cast<void>(value_and_grad(loss, model)), RuntimeError);
  expect_as_before(model, 0);
  EXPECT_FALSE(model->scale->factor.grad().defined());
  model->bomb->armed = false;
  EXPECT_EQ(value_and_grad(loss, model).value.item(), 9);
}

TEST(F4, hooks_that_throw_end_given_variables_too) {
  const auto model = make<Breaking>();
  model->bomb->armed = false;
  const Variables v = model->v() * 5;
  const RemovableHandle handle = model->scale->register_forward_hook(
      [](const Module&, const Args&, const Value&) { fail<RuntimeError>("hook"); });
  EXPECT_EQ(error_of<RuntimeError>([&] { model(ones({3}), CallOptions{.v = &v}); }),
            "hook, in module scale");
  expect_as_before(model, 1);
  handle.remove();
  EXPECT_EQ(values(model(ones({3}))), (std::vector<float>{4, 4, 4}));
}

TEST(G1, a_tracked_call_that_throws_leaves_the_last_trace) {
  const auto model = make<Breaking>();
  const CallOptions tracked{.track_submod_rets = true};
  model->bomb->armed = false;
  model(ones({3}), tracked);
  model->bomb->armed = true;
  EXPECT_THROW(model(ones({3}), tracked), RuntimeError);
  EXPECT_EQ(names_of(last_trace().rets), " Scale_0  Bomb_0 ");
  expect_as_before(model, 2);
  const ExpectedReturns expected{{"Scale_0", {.values = {zeros({3})}}}};
  EXPECT_THROW(model(ones({3}), CallOptions{.expected_submod_rets = &expected}), CheckFailure);
  expect_as_before(model, 3);
}

/// One step of v - lr * g on variables given at the call.
Variables descended(const Ptr<NormAndDropout>& model, const Variables& v, const Tensor& x,
                    float* loss) {
  const Variables leaves =
      v.map([](const Tensor& leaf) { return leaf.detach().set_requires_grad(true); });
  const Tensor y = model(x, CallOptions{.v = &leaves, .key = RandomKey{1, 1}});
  const Tensor value = mean((y - 1.0) * (y - 1.0));
  value.backward();
  *loss = value.item<float>();
  return v - 0.05 * leaves.map([](const Tensor& leaf) { return leaf.grad(); });
}

TEST(I_3, descent_on_given_variables_lowers_the_loss_ten_times_in_a_row) {
  set_seed(3);
  const auto model = make<NormAndDropout>(8, 0.1);
  const Tensor x = randn({16, 3});
  Variables v = model->v();
  const auto own = values(model->out->weight);
  float last = 1e9F;
  for (int step = 0; step < 10; ++step) {
    float loss = 0;
    v = descended(model, v, x, &loss);
    EXPECT_LT(loss, last) << step;
    last = loss;
  }
  EXPECT_EQ(values(model->out->weight), own);
  EXPECT_EQ(model->norm->num_batches_tracked.value().item<std::int64_t>(), 10);
}

TEST(I_3, memory_is_flat_over_a_thousand_steps) {
  set_seed(3);
  const auto model = make<NormAndDropout>(8, 0.1);
  const Tensor x = randn({16, 3});
  Variables v = model->v();
  float loss = 0;
  std::size_t after_first = 0;
  for (int step = 0; step < 1000; ++step) {
    v = descended(model, v, x, &loss);
    if (step == 0) {
      after_first = memory_stats().current;
    }
  }
  EXPECT_EQ(memory_stats().current, after_first);
}

}  // namespace
}  // namespace tessera::nn::contract
