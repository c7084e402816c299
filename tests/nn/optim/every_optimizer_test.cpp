// What holds for all optimizers: the same bits on any number of ranks, and after resuming; options
// that are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>

#include <tessera/core/base/error.h>
#include <tessera/nn/optim/adafactor.h>
#include <tessera/nn/optim/adagrad.h>
#include <tessera/nn/optim/adamw.h>
#include <tessera/nn/optim/lion.h>
#include <tessera/nn/optim/muon.h>
#include <tessera/nn/optim/rmsprop.h>
#include <tessera/nn/optim/sgd.h>

#include "nn/optim/model.h"
#include "nn/optim/shared_ranks.h"

namespace tessera::optim {
namespace {

using MakeOptimizer = std::function<std::unique_ptr<Optimizer>(const nn::Module&)>;
using Result = std::pair<Values, std::vector<double>>;

/// Weights and norms after two steps on one process.
Result train_alone(const MakeOptimizer& make) {
  set_seed(5);
  const auto model = nn::make<Model>();
  const auto optimizer = make(*model);
  std::vector<double> norms;
  for (std::uint64_t step = 0; step < 2; ++step) {
    set_gradients(*model, step);
    norms.push_back(optimizer->step().gradient_norm);
  }
  return {values_of(*model), norms};
}

/// The same on `count` ranks, whose models share their values. They give each other each of the
/// `elements` that the optimizer updates once a step.
Result train_shared(int count, const MakeOptimizer& make, std::int64_t elements) {
  set_seed(5);
  const auto shared = nn::make<Model>();
  SharedRanks ranks(count);
  std::vector<double> norms;
  on_ranks(count, [&](int rank) {
    const auto model = nn::make<Model>();
    const auto ownership = std::make_shared<SharedRank>(ranks, rank);
    const auto theirs = shared->parameters();
    for (std::size_t i = 0; const nn::Parameter& mine : model->parameters()) {
      mine.slot()->value = on_memory_of(theirs[i++].value());
      mine.slot()->value.set_requires_grad(true);
      mine.slot()->ownership = ownership;
    }
    const auto optimizer = make(*model);
    for (std::uint64_t step = 0; step < 2; ++step) {
      set_gradients(*model, step);
      const StepResult result = optimizer->step();
      if (rank == count - 1) {
        norms.push_back(result.gradient_norm);
      }
    }
    for (const nn::Parameter& mine : model->parameters()) {
      mine.slot()->ownership = nullptr;  // this one holds the slots that hold it
    }
  });
  EXPECT_EQ(ranks.published, 2 * elements);
  return {values_of(*shared), norms};
}

/// The parameters that an optimizer takes.
template <class Kind>
std::vector<nn::Parameter> taken(const nn::Module& model) {
  std::vector<nn::Parameter> parameters = model.parameters();
  if constexpr (std::is_same_v<Kind, Muon>) {
    std::erase_if(parameters, [](const nn::Parameter& p) { return p.shape().size() != 2; });
  }
  return parameters;
}

template <class Kind, class Options>
void expect_same_bits(const Options& options) {
  const MakeOptimizer make = [&](const nn::Module& model) {
    auto optimizer = std::make_unique<Kind>(taken<Kind>(model), options);
    optimizer->clip_grad_norm(1);
    return optimizer;
  };
  const Result alone = train_alone(make);
  std::int64_t elements = 0;
  for (const nn::Parameter& p : taken<Kind>(*nn::make<Model>())) {
    elements += p.name() == "unused" ? 0 : p.value().numel();
  }
  for (const int ranks : {1, 2, 4}) {
    EXPECT_EQ(train_shared(ranks, make, elements), alone) << ranks << " ranks";
  }
}

/// Stops after two steps of four and goes on with another optimizer, which began with other
/// options. Some parameters have fewer updates than others.
template <class Kind, class Options>
void expect_resumes(const Options& options) {
  const auto run = [](std::uint64_t from, std::uint64_t to, Model& model, Kind& optimizer) {
    for (std::uint64_t step = from; step < to; ++step) {
      set_gradients(model, step);
      if (step == 1) {
        model.small.value().set_grad({});
      }
      optimizer.step();
      model.zero_grad();
    }
  };
  set_seed(3);
  const auto whole = nn::make<Model>();
  Kind first(taken<Kind>(*whole), options);
  run(0, 2, *whole, first);
  const auto resumed = nn::make<Model>();
  resumed->load_state_dict(whole->state_dict());
  Kind second(taken<Kind>(*resumed), {.lr = 0.5});
  second.load_state(first.state());
  EXPECT_EQ(second.lr(), options.lr);
  run(2, 4, *whole, first);
  run(2, 4, *resumed, second);
  EXPECT_EQ(values_of(*resumed), values_of(*whole));
  EXPECT_EQ(second.steps(), 4);
}

template <class Kind, class Options>
void expect_same_bits_and_resumes(const Options& options) {
  expect_same_bits<Kind>(options);
  expect_resumes<Kind>(options);
}

TEST(EveryOptimizer, has_the_same_bits_on_any_number_of_ranks_and_after_resuming) {
  expect_same_bits_and_resumes<AdamW>(AdamWOptions{.lr = 0.01, .amsgrad = true});
  expect_same_bits_and_resumes<Adam>(AdamOptions{.lr = 0.01, .weight_decay = 0.1});
  expect_same_bits_and_resumes<SGD>(SGDOptions{.lr = 0.1, .momentum = 0.9, .nesterov = true});
  expect_same_bits_and_resumes<SGD>(SGDOptions{.lr = 0.1, .momentum = 0.9, .dampening = 0.5});
  expect_same_bits_and_resumes<Adagrad>(
      AdagradOptions{.lr_decay = 0.5, .initial_accumulator_value = 0.25});
  expect_same_bits_and_resumes<RMSprop>(RMSpropOptions{.momentum = 0.9, .centered = true});
  expect_same_bits_and_resumes<Lion>(LionOptions{.lr = 0.01, .weight_decay = 0.1});
  expect_same_bits_and_resumes<Adafactor>(AdafactorOptions{.lr = 0.1, .weight_decay = 0.1});
  expect_same_bits_and_resumes<Muon>(MuonOptions{.lr = 0.1});
}

/// Neither an empty list nor any of these options is taken.
template <class Kind, class Options>
void expect_refused(std::initializer_list<Options> wrong) {
  const auto model = nn::make<Model>();
  EXPECT_THROW(Kind({}, Options{}), ValueError);
  EXPECT_THROW(Kind({model->large, model->large}, Options{}), ValueError);
  int number = 0;
  for (const Options& options : wrong) {
    EXPECT_THROW(Kind({model->large}, options), ValueError) << "option " << number;
    ++number;
  }
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(EveryOptimizer, refuses_options_that_cannot_be_meant) {
  expect_refused<Adam, AdamOptions>({{.lr = -1},
                                     {.lr = kNan},
                                     {.beta1 = 1},
                                     {.beta1 = -0.1},
                                     {.beta2 = 1},
                                     {.eps = -1},
                                     {.weight_decay = -1}});
  expect_refused<AdamW, AdamWOptions>(
      {{.lr = -1}, {.beta1 = 1}, {.beta2 = kNan}, {.eps = -1}, {.weight_decay = -1}});
  expect_refused<SGD, SGDOptions>({{.lr = -1},
                                   {.momentum = -1},
                                   {.weight_decay = -1},
                                   {.nesterov = true},
                                   {.momentum = 0.9, .dampening = 0.1, .nesterov = true}});
  expect_refused<Adagrad, AdagradOptions>({{.lr = -1},
                                           {.lr_decay = -1},
                                           {.weight_decay = -1},
                                           {.initial_accumulator_value = -1},
                                           {.eps = -1}});
  expect_refused<RMSprop, RMSpropOptions>(
      {{.lr = -1}, {.alpha = -1}, {.eps = -1}, {.weight_decay = -1}, {.momentum = kNan}});
  expect_refused<Lion, LionOptions>({{.lr = -1}, {.beta1 = 1}, {.beta2 = 1}, {.weight_decay = -1}});
  expect_refused<Adafactor, AdafactorOptions>({{.lr = -1},
                                               {.beta2_decay = 0.1},
                                               {.eps1 = -0.5},
                                               {.eps2 = -1},
                                               {.d = 0.5},
                                               {.weight_decay = -1}});
  expect_refused<Muon, MuonOptions>({{.lr = -1},
                                     {.weight_decay = -1},
                                     {.momentum = -1},
                                     {.eps = -1},
                                     {.ns_steps = 100},
                                     {.adjust_lr_fn = static_cast<AdjustLr>(7)}});
}

TEST(Muon, takes_parameters_of_two_dims_only) {
  const auto model = nn::make<Model>();
  try {
    const Muon muon(model->parameters());
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("got small of shape (5,)"));
  }
}

}  // namespace
}  // namespace tessera::optim
