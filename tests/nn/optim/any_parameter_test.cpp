// Whatever parameters an optimizer holds: it updates those that it can, or none and names one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/expand.h>
#include <tessera/core/ops/permute.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/nn/functional/pure.h>
#include <tessera/nn/layers/conv.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/optim/adafactor.h>
#include <tessera/nn/optim/adagrad.h>
#include <tessera/nn/optim/adamw.h>
#include <tessera/nn/optim/lion.h>
#include <tessera/nn/optim/muon.h>
#include <tessera/nn/optim/rmsprop.h>
#include <tessera/nn/optim/sgd.h>

#include "nn/optim/model.h"
#include "support/error_of.h"

namespace tessera::optim {
namespace {

using nn::Parameter;
using testing::HasSubstr;
using testing_support::error_of;

using Made = std::unique_ptr<Optimizer>;
using Maker = Made (*)(const std::vector<Parameter>&);

template <class Kind, class Options>
Made made(const std::vector<Parameter>& parameters, const Options& options) {
  return std::make_unique<Kind>(parameters, options);
}

/// Every optimizer, with state.
const std::vector<std::pair<const char*, Maker>> kMakers{
    {"SGD", [](const auto& p) { return made<SGD>(p, SGDOptions{.lr = 0.1, .momentum = 0.9}); }},
    {"Adam", [](const auto& p) { return made<Adam>(p, AdamOptions{.weight_decay = 0.1}); }},
    {"AdamW", [](const auto& p) { return made<AdamW>(p, AdamWOptions{.amsgrad = true}); }},
    {"Adagrad", [](const auto& p) { return made<Adagrad>(p, AdagradOptions{}); }},
    {"RMSprop", [](const auto& p) { return made<RMSprop>(p, RMSpropOptions{.momentum = 0.9}); }},
    {"Lion", [](const auto& p) { return made<Lion>(p, LionOptions{}); }},
    {"Adafactor", [](const auto& p) { return made<Adafactor>(p, AdafactorOptions{}); }},
    {"Muon", [](const auto& p) { return made<Muon>(p, MuonOptions{}); }},
};

/// Three parameters of two dims, which every optimizer takes.
struct Three : nn::Module {
  Parameter a{this, "a", {4, 6}, nn::init::normal(0, 1)};
  Parameter b{this, "b", {6, 4}, nn::init::normal(0, 1)};
  Parameter c{this, "c", {2, 3}, nn::init::normal(0, 1)};
};

nn::Ptr<Three> three() {
  set_seed(7);
  return nn::make<Three>();
}

/// Gradients that differ from parameter to parameter and from step to step.
void give_gradients(const nn::Module& model, std::uint64_t step) {
  for (std::uint64_t key = 10 * step; const Parameter& p : model.parameters()) {
    p.value().set_grad(cast(gradient(p.shape(), key++), p.value().dtype()));
  }
}

void take_steps(const nn::Module& model, Optimizer& optimizer, std::uint64_t first,
                std::uint64_t count) {
  for (std::uint64_t step = first; step < first + count; ++step) {
    give_gradients(model, step);
    optimizer.step();
  }
}

TEST(AnyParameter, frozen_ones_are_skipped_with_their_state) {
  for (const auto& [name, make] : kMakers) {
    const auto model = three();
    const auto other = three();  // is never given the frozen one
    const Made optimizer = make(model->parameters());
    const Made expected = make(other->parameters());
    take_steps(*model, *optimizer, 0, 1);
    take_steps(*other, *expected, 0, 1);
    model->b.value().set_requires_grad(false);
    for (std::uint64_t step = 1; step < 3; ++step) {
      give_gradients(*model, step);
      model->b.value().set_grad(full({6, 4}, 1e30));  // left over; counts in no norm
      give_gradients(*other, step);
      other->b.value().set_grad({});
      EXPECT_EQ(optimizer->step().gradient_norm, expected->step().gradient_norm) << name;
      EXPECT_FALSE(model->b.grad().defined()) << name;
    }
    EXPECT_EQ(values_of(*model), values_of(*other)) << name;
    model->b.requires_grad_(true);
    take_steps(*model, *optimizer, 3, 1);
    take_steps(*other, *expected, 3, 1);
    EXPECT_EQ(values_of(*model), values_of(*other)) << name << ", trained again";
    EXPECT_EQ(optimizer->state().numbers, expected->state().numbers) << name;
  }
}

TEST(AnyParameter, frozen_ones_that_are_not_finite_stop_nothing) {
  const auto model = three();
  AdamW optimizer(model->parameters());
  optimizer.clip_grad_norm(1);
  give_gradients(*model, 1);
  model->a.value().set_grad(full({4, 6}, std::numeric_limits<double>::quiet_NaN()));
  model->a.requires_grad_(false);
  EXPECT_TRUE(std::isfinite(optimizer.step().gradient_norm));
  model->requires_grad_(false);
  optimizer.zero_grad();
  EXPECT_EQ(optimizer.step().gradient_norm, 0);
}

/// The same elements in the other order of memory.
Tensor other_layout(const Tensor& x) {
  return transpose(contiguous(transpose(x.detach())));
}

/// The same elements, every second of a larger tensor.
Tensor strided(const Tensor& x) {
  Tensor wide = zeros({x.size(0), 2 * x.size(1)}, {.dtype = x.dtype()});
  const Tensor view = slice(wide, 1, 0, 2 * x.size(1), 2);
  view.copy_(x.detach());
  return view.detach();
}

TEST(AnyParameter, any_layout_is_updated_where_it_lies) {
  for (const auto& [name, make] : kMakers) {
    const auto dense = three();
    const auto model = three();
    model->load_state_dict(
        {{"a", other_layout(model->a)}, {"b", strided(model->b)}, {"c", model->c.value().detach()}},
        {.assign = true});
    const Tensor before = model->a;
    ASSERT_FALSE(before.get().contiguous());
    const Made optimizer = make(model->parameters());
    const Made expected = make(dense->parameters());
    take_steps(*model, *optimizer, 0, 3);
    take_steps(*dense, *expected, 0, 3);
    EXPECT_EQ(values_of(*model), values_of(*dense)) << name;
    EXPECT_TRUE(before.is(model->a.value())) << name;
    EXPECT_FALSE(before.get().contiguous()) << name;
  }
}

TEST(AnyParameter, channels_last_is_updated) {
  const auto model = nn::make<nn::Conv2d>(2, 3, 3);
  const auto dense = nn::clone(model);
  model->to(nn::MemoryFormat::channels_last);
  SGD optimizer(model->parameters(), {.lr = 0.1, .momentum = 0.9});
  SGD expected(dense->parameters(), {.lr = 0.1, .momentum = 0.9});
  take_steps(*model, optimizer, 0, 2);
  take_steps(*dense, expected, 0, 2);
  EXPECT_EQ(values_of(*model), values_of(*dense));
}

TEST(AnyParameter, state_follows_a_change_of_dtype) {
  for (const auto& [name, make] : kMakers) {
    for (const DType dtype : {DType::f64, DType::bf16}) {
      const auto model = three();
      const Made optimizer = make(model->parameters());
      take_steps(*model, *optimizer, 0, 1);
      const OptimizerState before = optimizer->state();
      // What goes on in the new dtype from a state that was loaded in it.
      const auto other = three();
      other->load_state_dict(model->state_dict());
      other->to(dtype);
      const Made expected = make(other->parameters());
      expected->load_state(before);
      model->to(dtype);
      take_steps(*model, *optimizer, 1, 2);
      take_steps(*other, *expected, 1, 2);
      EXPECT_EQ(values_of(*model), values_of(*other)) << name;
      for (const auto& [key, tensor] : optimizer->state().tensors) {
        EXPECT_EQ(tensor.dtype(), dtype) << name << ", " << key;
      }
    }
  }
}

/// Momentum by hand, in f64: p -= lr m with m = 0.9 m + g, of which the first m was kept in f32.
TEST(AnyParameter, momentum_goes_on_in_f64) {
  const auto model = nn::make<nn::Linear>(2, 1, nn::LinearOptions{.bias = false});
  model->load_state_dict({{"weight", from_values<float>(std::vector<float>{1, 2}, {1, 2})}});
  SGD optimizer(model->parameters(), {.lr = 0.5, .momentum = 0.9});
  model->weight.value().set_grad(full({1, 2}, 0.25));
  optimizer.step();
  model->to(DType::f64);
  model->weight.value().set_grad(full({1, 2}, 0.1, {.dtype = DType::f64}));
  optimizer.step();
  const double second = 0.9 * 0.25 + 0.1;
  EXPECT_THAT(model->weight.value().to_vector<double>(),
              testing::ElementsAre(testing::DoubleEq(1 - 0.125 - 0.5 * second),
                                   testing::DoubleEq(2 - 0.125 - 0.5 * second)));
}

/// What makes the last parameter one that cannot be updated, and how that is said.
struct Obstacle {
  const char* says;
  void (*put)(Three& model);
};

const std::vector<Obstacle> kObstacles{
    {"the parameter c is complex; got c64",
     [](Three& m) {
       m.c.slot()->put(zeros({2, 3}, {.dtype = DType::c64}));
     }},
    {"the parameter c has no data (meta)",
     [](Three& m) {
       m.c.slot()->put(empty({2, 3}, {.device = {.type = DeviceType::meta}}));
       m.c.value().set_grad(empty({2, 3}, {.device = {.type = DeviceType::meta}}));
     }},
    {"several elements of the parameter c share memory",
     [](Three& m) {
       m.c.slot()->put(expand(ones({1, 3}), {2, 3}).detach());
     }},
};

TEST(AnyParameter, one_that_cannot_be_updated_is_named_before_any_is_changed) {
  for (const auto& [name, make] : kMakers) {
    for (const Obstacle& obstacle : kObstacles) {
      const auto model = three();
      const Made optimizer = make(model->parameters());
      take_steps(*model, *optimizer, 0, 1);
      obstacle.put(*model);
      const Values before{model->a.value().to_vector<float>(), model->b.value().to_vector<float>()};
      const auto numbers = optimizer->state().numbers;
      if (model->c.value().device().type != DeviceType::meta) {
        give_gradients(*model, 1);
      }
      model->a.value().set_grad(ones({4, 6}));
      EXPECT_THAT(error_of<ValueError>([&] { optimizer->step(); }), HasSubstr(obstacle.says))
          << name;
      const Values after{model->a.value().to_vector<float>(), model->b.value().to_vector<float>()};
      EXPECT_EQ(after, before) << name;
      EXPECT_EQ(optimizer->state().numbers, numbers) << name;
      EXPECT_TRUE(model->a.grad().defined()) << name;
    }
  }
}

TEST(AnyParameter, complex_ones_are_refused_when_they_are_added) {
  for (const auto& [name, make] : kMakers) {
    const auto model = three();
    model->to(DType::c64);
    EXPECT_THAT(error_of<ValueError>([&] { make(model->parameters()); }),
                HasSubstr("optimizer: the parameter a is complex; got c64"))
        << name;
  }
}

TEST(AnyParameter, options_that_do_not_fit_one_group_change_none) {
  const auto model = three();
  SGD optimizer({model->a}, {.momentum = 0.9});
  optimizer.add_group({model->b}, {.momentum = 0.5, .nesterov = true});
  EXPECT_THAT(error_of<ValueError>([&] { optimizer.set_momentum(0); }),
              HasSubstr("nesterov needs momentum"));
  EXPECT_EQ(optimizer.options(0).momentum, 0.9);
  EXPECT_EQ(optimizer.options(1).momentum, 0.5);
}

TEST(AnyParameter, that_is_undefined_is_refused) {
  const auto model = nn::make<Model>();
  try {
    SGD optimizer({model->large, nn::Parameter()}, {.lr = 1});
    FAIL() << "no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("optimizer: parameter 1 is undefined"));
  }
}

}  // namespace
}  // namespace tessera::optim
