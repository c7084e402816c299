// What writes state and is refused on its way leaves the state as it was, and is refused again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include <tessera/core/base/context.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/layers/lazy.h>
#include <tessera/nn/optim/adagrad.h>
#include <tessera/nn/optim/one_cycle_schedule.h>
#include <tessera/nn/optim/sgd.h>
#include <tessera/nn/state/state_snapshot.h>

#include "models.h"
#include "support/error_of.h"
#include "support/values.h"

namespace tessera::nn::contract {
namespace {

using testing::HasSubstr;
using testing_support::error_of;
using testing_support::Floats;
using testing_support::values;

/// Steps of two samples, each in a pass of its own.
data::LoaderOptions two_passes() {
  return {.batch_size = 2, .workers = 0, .grain = 2, .at_once = 1};
}

/// Assigns one buffer in every pass, the other one in the first alone.
struct AssignsOnce : Module {
  Parameter factor{this, "factor", {3}, init::constant(2)};
  Buffer always{this, "always", zeros({})};
  Buffer once{this, "once", zeros({})};
  Tensor forward(const Tensor& x) const {
    always.assign(ones({}));
    if (Context::current().pass.first == 0) {
      once.assign(ones({}));
    }
    return x * factor;
  }
};

struct TwoWeights : Module {
  Parameter first{this, "first", {2}, init::constant(1)};
  Parameter second{this, "second", {2}, init::constant(1)};
};

/// Zeros for TwoWeights that no tape takes.
StateDict untrainable() {
  const InferenceGuard guard;
  return {{"first", zeros({2})}, {"second", zeros({2})}};
}

struct Noting : Module, HasExtraState {
  Parameter weight{this, "weight", {1}, init::constant(1)};
  std::int64_t note = 0;
  [[nodiscard]] Value get_extra_state() const override { return note; }
  void set_extra_state(const Value& state) override { note = state.get<std::int64_t>(); }
};

struct Halves : Module {
  Child<Scale> a{this, "a"};
  Child<Scale> b{this, "b"};
};

TEST(RefusedMidway, a_pass_that_a_loader_refuses_is_the_first_of_the_next_loop) {
  const ContextScope scope(std::make_shared<Context>());
  const auto model = make<Scale>(1);
  data::LoaderOptions options = two_passes();
  options.workers = 1;
  options.prefetch = 2;
  data::DataLoader loader(data::TensorDataset{arange(4, {.dtype = DType::f32})}, options);
  std::vector<Floats> seen;
  const auto walk = [&](bool every_pass) {
    for (auto& [x] : loader) {
      seen.push_back(values(x));
      if (every_pass || Context::current().pass.first == 0) {
        mean(model(x)).backward();
      }
    }
  };
  EXPECT_THAT(error_of<InvalidArgument>([&] { walk(false); }),
              HasSubstr("the passes of a step ran other numbers of backward"));
  EXPECT_EQ(seen, (std::vector<Floats>{{0}, {1}}));
  walk(true);
  EXPECT_EQ(seen, (std::vector<Floats>{{0}, {1}, {2}, {3}}));
}

TEST(RefusedMidway, an_end_of_a_step_that_buffers_refuse_is_refused_again) {
  const ContextScope scope(std::make_shared<Context>());
  const auto model = make<AssignsOnce>();
  optim::SGD optimizer(model->parameters(), {.lr = 0.1});
  data::DataLoader loader(data::TensorDataset{ones({2, 3})}, two_passes());
  const auto says = HasSubstr("is assigned in some passes of a training step");
  int refused = 0;
  const auto train = [&] {
    for (auto& [x] : loader) {
      mean(model(x)).backward();
      if (!Context::current().pass.last) {
        EXPECT_FALSE(optimizer.step().ended);
        continue;
      }
      for (; refused < 3; ++refused) {
        EXPECT_THAT(error_of<RuntimeError>([&] { optimizer.step(); }), says) << refused;
        EXPECT_EQ(values(model->factor), (Floats{2, 2, 2})) << refused;
        EXPECT_EQ(values(model->always.slot()->value), Floats{0}) << refused;
        EXPECT_EQ(values(model->once.slot()->value), Floats{0}) << refused;
      }
    }
  };
  EXPECT_THAT(error_of<RuntimeError>(train), says) << "where the loader would end the step";
  EXPECT_EQ(refused, 3);
  EXPECT_EQ(values(model->always), Floats{0});
  EXPECT_EQ(values(model->once), Floats{0});
}

TEST(RefusedMidway, options_changed_between_passes_are_refused_however_often) {
  const ContextScope scope(std::make_shared<Context>());
  const auto model = make<Scale>();
  optim::SGD optimizer(model->parameters(), {.lr = 0.1});
  data::DataLoader loader(data::TensorDataset{ones({2, 3})}, two_passes());
  for (auto& [x] : loader) {
    mean(model(x)).backward();
    if (!Context::current().pass.last) {
      EXPECT_FALSE(optimizer.step().ended);
      optimizer.set_lr(0.2);
      continue;
    }
    for (int attempt = 0; attempt < 3; ++attempt) {
      EXPECT_THAT(error_of<InvalidArgument>([&] { optimizer.step(); }),
                  HasSubstr("were changed between two passes of a training step"))
          << attempt;
      EXPECT_EQ(values(model->factor), (Floats{2, 2, 2})) << attempt;
    }
    optimizer.set_lr(0.1);
    EXPECT_TRUE(optimizer.step().ended);
  }
  EXPECT_NE(values(model->factor), (Floats{2, 2, 2}));
}

/// Whichever of the two is assigned first.
TEST(RefusedMidway, what_inference_made_is_assigned_to_nothing_where_one_of_it_would_be_trained) {
  const auto model = make<TwoWeights>();
  for (const bool first : {true, false}) {
    model->first.requires_grad_(first);
    model->second.requires_grad_(!first);
    EXPECT_THAT(error_of([&] { model->load_state_dict(untrainable(), {.assign = true}); }),
                HasSubstr(first ? "\"first\": was made under InferenceGuard"
                                : "\"second\": was made under InferenceGuard"));
    EXPECT_EQ(values(model->first), (Floats{1, 1})) << first;
    EXPECT_EQ(values(model->second), (Floats{1, 1})) << first;
  }
}

TEST(RefusedMidway, nothing_is_trained_where_one_of_the_parameters_cannot_be) {
  const auto model = make<TwoWeights>();
  model->requires_grad_(false);
  StateDict state = untrainable();
  state.set("first", zeros({2}));
  model->load_state_dict(state, {.assign = true});
  EXPECT_THAT(error_of<InvalidArgument>([&] { model->requires_grad_(); }),
              HasSubstr("\"second\" was made under InferenceGuard"));
  EXPECT_FALSE(model->first.requires_grad());
  EXPECT_FALSE(model->second.requires_grad());
}

TEST(RefusedMidway, extra_state_of_a_module_with_two_names_is_put_back) {
  const auto shared = make<Noting>();
  const auto model = make<Leaf>();
  model->register_module("a", shared);
  model->register_module("b", shared);
  const RemovableHandle failing = model->register_load_state_dict_post_hook(
      [](Module&, LoadResult&) { fail<RuntimeError>("too late"); });
  const StateDict state{{"a.weight", full({1}, 5)},
                        {"a._extra_state", 41},
                        {"b.weight", full({1}, 5)},
                        {"b._extra_state", 41}};
  EXPECT_EQ(error_of<RuntimeError>([&] { model->load_state_dict(state); }), "too late");
  EXPECT_EQ(shared->note, 0);
  EXPECT_EQ(values(shared->weight), Floats{1});
}

TEST(RefusedMidway, a_snapshot_puts_back_the_first_state_that_it_kept) {
  const auto model = make<Noting>();
  model->note = 1;
  StateSnapshot before(*model);
  before.keep(*model);
  model->note = 2;
  before.keep(*model);
  model->note = 3;
  model->weight.value().detach().copy_(full({1}, 9));
  before.restore();
  EXPECT_EQ(model->note, 1);
  EXPECT_EQ(values(model->weight), Floats{1});
}

/// Whichever of the two is copied first.
TEST(RefusedMidway, a_source_whose_update_is_put_off_is_refused_before_anything_is_copied) {
  const ContextScope scope(std::make_shared<Context>());
  const auto target = make<Halves>();
  for (const char* half : {"a", "b"}) {
    const auto online = make<Halves>();
    online->set_v(online->v() * 3);
    const Variables v = online->v();
    const StateDict state = online->state_dict();
    optim::SGD optimizer(online->get_submodule(half).parameters(), {.lr = 0.1});
    data::DataLoader loader(data::TensorDataset{ones({2, 3})}, two_passes());
    const auto pass = loader.begin();
    EXPECT_FALSE(optimizer.step().ended);
    const auto expect_refused_whole = [&](const std::string& error) {
      EXPECT_THAT(error, HasSubstr("is used after optimizer.step()")) << half;
      EXPECT_EQ(values(target->a->factor), (Floats{2, 2, 2})) << half;
      EXPECT_EQ(values(target->b->factor), (Floats{2, 2, 2})) << half;
    };
    expect_refused_whole(error_of<RuntimeError>([&] { target->load_state_dict(state); }));
    expect_refused_whole(error_of<RuntimeError>([&] { target->set_v(v); }));
  }
}

TEST(RefusedMidway, a_sum_in_place_with_a_view_that_no_tape_takes_adds_nothing) {
  const Tensor rows = from_values<float>(std::vector<float>{1, 2, 3, 4}, {2, 2});
  const Tensor x = transpose(rows).detach();
  const Tensor stale = select(x, 0, 0);
  const Tensor w = full({2, 2}, 10).set_requires_grad(true);
  mul_(x, w);
  const Tensor z = zeros({2});
  EXPECT_THAT(error_of<Unsupported>([&] { add_(z, stale); }),
              HasSubstr("a view of a strided tensor that was written to on the tape"));
  EXPECT_EQ(values(z), (Floats{0, 0}));
  EXPECT_FALSE(z.requires_grad());
  add_(z, select(x, 0, 0));
  EXPECT_EQ(values(z), (Floats{10, 30}));
}

TEST(RefusedMidway, a_lazy_layer_does_not_take_the_dtype_of_an_input_that_it_refuses) {
  const auto lazy = make<LazyLinear>(2);
  EXPECT_THAT(error_of<ValueError>([&] { lazy(zeros({}, {.dtype = DType::f64})); }),
              HasSubstr("needs an input of one dim or more"));
  EXPECT_EQ(lazy(ones({1, 3})).dtype(), DType::f32);
  EXPECT_EQ(lazy->weight.value().dtype(), DType::f32);
  EXPECT_EQ(lazy->bias.value().dtype(), DType::f32);
}

TEST(RefusedMidway, a_cycle_of_momenta_that_an_optimizer_refuses_leaves_its_rate) {
  const auto model = make<Scale>();
  optim::Adagrad without(model->parameters(), {.lr = 0.5});
  const optim::OneCycleSchedule cycle({.lr = 0.1, .steps = 10});
  EXPECT_THAT(error_of<ValueError>([&] { cycle.apply(0, without); }),
              HasSubstr("neither momentum nor beta1"));
  EXPECT_EQ(without.lr(), 0.5);
  optim::SGD nesterov(model->parameters(), {.lr = 0.5, .momentum = 0.9, .nesterov = true});
  const optim::OneCycleSchedule to_zero({.lr = 0.1, .steps = 10, .max_momentum = 0});
  EXPECT_THAT(error_of<ValueError>([&] { to_zero.apply(0, nesterov); }),
              HasSubstr("nesterov needs momentum"));
  EXPECT_EQ(nesterov.lr(), 0.5);
  EXPECT_EQ(nesterov.options().momentum, 0.9);
}

TEST(RefusedMidway, a_tensor_of_random_numbers_that_is_refused_takes_no_draw) {
  const ContextScope scope(std::make_shared<Context>());
  set_seed(3);
  const Floats expected = values(rand({4}));
  set_seed(3);
  EXPECT_THROW(static_cast<void>(rand({4}, {.dtype = DType::i64, .requires_grad = true})),
               InvalidArgument);
  EXPECT_THROW(static_cast<void>(rand({-1})), InvalidArgument);
  EXPECT_EQ(values(rand({4})), expected);
}

struct Unnamed : Module {};

TEST(RefusedMidway, a_tensor_is_not_a_trained_and_a_frozen_parameter) {
  const auto one = make<Unnamed>(), other = make<Unnamed>();
  const Tensor w = ones({2});
  one->register_parameter("weight", w);
  EXPECT_THROW(other->register_parameter("weight", w, false), ValueError);
  EXPECT_TRUE(one->get_parameter("weight").requires_grad());
  one->register_parameter("weight", w, false);  // it is what is there
  EXPECT_FALSE(one->get_parameter("weight").requires_grad());
}

}  // namespace
}  // namespace tessera::nn::contract
