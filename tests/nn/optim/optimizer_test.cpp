#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include <tessera/core/base/error.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/init/constant.h>
#include <tessera/nn/init/normal.h>
#include <tessera/nn/module.h>
#include <tessera/nn/optim/adamw.h>
#include <tessera/nn/optim/sgd.h>

#include "nn/optim/shared_ranks.h"

namespace tessera::optim {
namespace {

using ::testing::HasSubstr;

/// Three parameters: of several blocks and a part of one, of less than a block, and an unused one.
struct Model : nn::Module {
  nn::Parameter large{this, "large", {1000, 257}, nn::init::normal(0, 1)};
  nn::Parameter small{this, "small", {5}, nn::init::normal(0, 1)};
  nn::Parameter unused{this, "unused", {3}, nn::init::normal(0, 1)};
};

Tensor gradient(const Shape& shape, std::uint64_t key) {
  const Tensor value = empty(shape);
  nn::init::normal(0, 0.1)(value, {.key = key});
  return value;
}

void set_gradients(const Model& model, std::uint64_t step) {
  model.large.value().set_grad(gradient(model.large.shape(), 2 * step));
  model.small.value().set_grad(gradient(model.small.shape(), 2 * step + 1));
}

using Values = std::vector<std::vector<float>>;

Values values_of(const nn::Module& model) {
  Values values;
  for (const nn::Parameter& parameter : model.parameters()) {
    values.push_back(parameter.value().to_vector<float>());
  }
  return values;
}

using MakeOptimizer = std::function<std::unique_ptr<Optimizer>(const nn::Module&)>;
using Result = std::pair<Values, std::vector<double>>;

/// Weights and norms after three steps on one process.
Result train_alone(const MakeOptimizer& make) {
  set_seed(5);
  const auto model = nn::make<Model>();
  const auto optimizer = make(*model);
  std::vector<double> norms;
  for (std::uint64_t step = 0; step < 3; ++step) {
    set_gradients(*model, step);
    norms.push_back(optimizer->step().gradient_norm);
  }
  return {values_of(*model), norms};
}

/// The same on `count` ranks, whose models share their values.
Result train_shared(int count, const MakeOptimizer& make) {
  set_seed(5);
  const auto shared = nn::make<Model>();
  SharedRanks ranks(count);
  std::vector<double> norms;
  on_ranks(count, [&](int rank) {
    const auto model = nn::make<Model>();
    const auto synchronizer = std::make_shared<SharedRank>(ranks, rank, *model);
    const auto theirs = shared->parameters();
    for (std::size_t i = 0; const nn::Parameter& mine : model->parameters()) {
      mine.slot()->value = on_memory_of(theirs[i++].value());
      mine.slot()->value.set_requires_grad(true);
      mine.slot()->synchronizer = synchronizer;
    }
    const auto optimizer = make(*model);
    for (std::uint64_t step = 0; step < 3; ++step) {
      set_gradients(*model, step);
      const StepResult result = optimizer->step();
      if (rank == count - 1) {
        norms.push_back(result.gradient_norm);
      }
    }
    for (const nn::Parameter& mine : model->parameters()) {
      mine.slot()->synchronizer = nullptr;  // this one holds the slots that hold it
    }
  });
  return {values_of(*shared), norms};
}

TEST(Optimizer, bits_do_not_depend_on_who_owns_what) {
  const std::vector<MakeOptimizer> makers = {
      [](const nn::Module& model) {
        auto optimizer = std::make_unique<AdamW>(model.parameters(), AdamWOptions{.lr = 0.01});
        optimizer->clip_grad_norm(1);
        return optimizer;
      },
      [](const nn::Module& model) {
        return std::make_unique<Sgd>(model.parameters(),
                                     SgdOptions{.lr = 0.1, .momentum = 0.9, .nesterov = true});
      },
  };
  for (const MakeOptimizer& make : makers) {
    const Result alone = train_alone(make);
    for (const int ranks : {1, 2, 3, 4, 7}) {
      EXPECT_EQ(train_shared(ranks, make), alone) << ranks << " ranks";
    }
  }
}

TEST(Optimizer, norm_is_that_of_all_gradients) {
  const auto model = nn::make<Model>();
  Sgd optimizer(model->parameters(), {.lr = 0});
  set_gradients(*model, 1);
  double sum = 0;
  for (const nn::Parameter& parameter : {model->large, model->small}) {
    for (const float x : parameter.grad().to_vector<float>()) {
      sum += double{x} * x;
    }
  }
  optimizer.step();
  EXPECT_NEAR(optimizer.gradient_norm(), std::sqrt(sum), 1e-12 * std::sqrt(sum));
}

TEST(Optimizer, clips_by_the_norm_of_all_gradients) {
  const auto model = nn::make<Model>();
  model->load_state_dict(
      {{"large", zeros({1000, 257})}, {"small", zeros({5})}, {"unused", zeros({3})}});
  Sgd optimizer(model->parameters(), {.lr = 1});
  optimizer.clip_grad_norm(2.5);
  model->small.value().set_grad(tensor<float>({0, 3, 0, -4, 0}));
  EXPECT_EQ(optimizer.step().gradient_norm, 5);
  const auto after = model->small.value().to_vector<float>();
  EXPECT_NEAR(after[1], -1.5, 1e-6);
  EXPECT_NEAR(after[3], 2, 1e-6);
  model->small.value().set_grad(tensor<float>({1, 0, 0, 0, 0}));  // below the limit: as it is
  optimizer.step();
  EXPECT_EQ(model->small.value().to_vector<float>()[0], -1);
  EXPECT_THROW(optimizer.clip_grad_norm(-1), InvalidArgument);
}

TEST(Optimizer, leaves_parameters_without_gradient_alone) {
  const auto model = nn::make<Model>();
  const auto before = values_of(*model);
  AdamW optimizer(model->parameters(), {.lr = 0.1, .weight_decay = 0.5});
  set_gradients(*model, 1);
  optimizer.step();
  EXPECT_EQ(values_of(*model)[2], before[2]);
  EXPECT_NE(values_of(*model)[1], before[1]);
  EXPECT_EQ(optimizer.state().tensors.size(), 4U);
}

TEST(Optimizer, waits_for_the_last_pass) {
  const auto model = nn::make<Model>();
  const auto before = values_of(*model);
  Sgd optimizer(model->parameters(), {.lr = 0.1});
  set_gradients(*model, 1);
  Context::current().pass.last = false;
  EXPECT_FALSE(optimizer.step().ended);
  EXPECT_EQ(values_of(*model), before);
  EXPECT_TRUE(model->large.grad().defined());
  Context::current().pass.last = true;
  EXPECT_TRUE(optimizer.step().ended);
  EXPECT_NE(values_of(*model), before);
}

TEST(Optimizer, counts_steps_where_no_loader_does) {
  set_seed(1);
  const auto model = nn::make<Model>();
  Sgd optimizer(model->parameters());
  optimizer.step();
  EXPECT_EQ(Context::current().step, 1U);
  Context::current().pass.samples = 4;
  optimizer.step();
  EXPECT_EQ(Context::current().step, 1U);
  Context::current().pass = {};
}

TEST(Optimizer, stops_or_skips_where_gradients_are_not_finite) {
  for (const float bad :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    set_seed(1);
    const auto model = nn::make<Model>();
    AdamW optimizer(model->parameters());
    const auto before = values_of(*model);
    set_gradients(*model, 1);
    model->large.value().set_grad(full({1000, 257}, bad));  // backward comes to it later
    model->small.value().set_grad(tensor<float>({0, bad, 0, 0, 0}));
    try {
      optimizer.step();
      FAIL();
    } catch (const NonFiniteGradient& error) {
      EXPECT_THAT(error.what(), HasSubstr("in step 1; first in small"));
    }
    EXPECT_EQ(values_of(*model), before);
    optimizer.on_non_finite(NonFinite::skip);
    const StepResult result = optimizer.step();
    EXPECT_TRUE(result.skipped);
    EXPECT_THAT(result.reason, HasSubstr("first in small"));
    EXPECT_EQ(result.parameter, "small");
    EXPECT_EQ(values_of(*model), before);
    EXPECT_FALSE(model->large.grad().defined());
    EXPECT_EQ(optimizer.steps(), 0);
  }
}

TEST(Optimizer, large_gradients_do_not_overflow_the_norm) {
  const auto model = nn::make<Model>();
  Sgd optimizer(model->parameters(), {.lr = 0});
  model->small.value().set_grad(full({5}, 3e38));
  EXPECT_NEAR(optimizer.step().gradient_norm, 3e38 * std::sqrt(5.0), 1e32);
}

TEST(Optimizer, goes_on_from_its_state_bit_for_bit) {
  const auto run = [](std::uint64_t from, std::uint64_t to, const Model& model, AdamW& optimizer) {
    for (std::uint64_t step = from; step < to; ++step) {
      set_gradients(model, step);
      if (step == 2) {  // some parameters have fewer updates than others
        model.small.value().set_grad({});
      }
      optimizer.step();
    }
  };
  set_seed(3);
  const auto whole = nn::make<Model>();
  AdamW first(whole->parameters(), {.lr = 0.01});
  run(0, 3, *whole, first);
  const auto resumed = nn::make<Model>();
  resumed->load_state_dict(whole->state_dict());
  AdamW second(resumed->parameters(), {.lr = 0.5});
  second.load_state(first.state());
  EXPECT_EQ(second.lr(), 0.01);
  run(3, 6, *whole, first);
  run(3, 6, *resumed, second);
  EXPECT_EQ(values_of(*resumed), values_of(*whole));
  EXPECT_EQ(second.steps(), 6);
}

TEST(Optimizer, refuses_state_that_does_not_fit) {
  const auto model = nn::make<Model>();
  AdamW optimizer(model->parameters());
  set_gradients(*model, 1);
  optimizer.step();
  const auto refused = [&](const std::function<void(OptimizerState&)>& spoil) {
    OptimizerState state = optimizer.state();
    spoil(state);
    try {
      optimizer.load_state(state);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("nothing thrown");
  };
  EXPECT_EQ(refused([](OptimizerState&) {}), "nothing thrown");
  EXPECT_THAT(refused([](OptimizerState& s) { s.tensors.pop_back(); }),
              HasSubstr("no tensor named exp_avg_sq/small"));
  EXPECT_THAT(refused([](OptimizerState& s) { s.tensors.erase(s.tensors.begin()); }),
              HasSubstr("no tensor named exp_avg/large"));
  EXPECT_THAT(refused([](OptimizerState& s) { s.tensors[0].second = zeros({2}); }),
              HasSubstr("wrong shape of exp_avg/large"));
  EXPECT_THAT(refused([](OptimizerState& s) { s.tensors[0].first = "exp_avg/other"; }),
              HasSubstr("exp_avg/"));
  EXPECT_THAT(refused([](OptimizerState& s) { s.numbers.clear(); }), HasSubstr("named steps"));
}

TEST(Optimizer, groups_have_options_of_their_own) {
  const auto model = nn::make<Model>();
  AdamW made;
  AdamW optimizer = std::move(made);
  optimizer.add_group({model->large}, {.lr = 0.1, .weight_decay = 0.1});
  optimizer.add_group({model->small}, {.lr = 0.2, .weight_decay = 0});
  EXPECT_EQ(optimizer.lr(1), 0.2);
  optimizer.set_lr(0.3);
  EXPECT_EQ(optimizer.lr(0), 0.3);
  EXPECT_EQ(optimizer.options(0).weight_decay, 0.1);
  EXPECT_THROW(optimizer.add_group({model->small}, {}), InvalidArgument);
  EXPECT_THROW(optimizer.add_group({}, {.beta1 = 1}), InvalidArgument);
  EXPECT_THROW(Sgd({}, {.nesterov = true}), InvalidArgument);
}

}  // namespace
}  // namespace tessera::optim
