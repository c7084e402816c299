// The rates of each schedule against PyTorch's, of tests/oracle.
#include <gtest/gtest.h>

#include <fstream>

#include <nlohmann/json.hpp>

#include <tessera/nn/optim/constant_schedule.h>
#include <tessera/nn/optim/cosine_restarts_schedule.h>
#include <tessera/nn/optim/cosine_schedule.h>
#include <tessera/nn/optim/exponential_schedule.h>
#include <tessera/nn/optim/multi_step_schedule.h>
#include <tessera/nn/optim/one_cycle_schedule.h>
#include <tessera/nn/optim/plateau_schedule.h>
#include <tessera/nn/optim/polynomial_schedule.h>
#include <tessera/nn/optim/step_schedule.h>

namespace tessera::optim {
namespace {

using Json = nlohmann::json;

const Json& runs_of(const char* name) {
  static const Json json =
      Json::parse(std::ifstream(TESSERA_TEST_FOLDER "/fixtures/ops.json"))["schedules"];
  return json.at(name);
}

/// Expects the rates of `run`, of two groups; `before` is called before each step but the first.
void expect_rates(
    Schedule& schedule, const Json& run,
    const std::function<void(std::size_t)>& before = [](auto) {}) {
  schedule.add_group(run["lr"][1]);
  for (std::size_t step = 0; step < run["rates"].size(); ++step) {
    if (step > 0) {
      before(step);
    }
    for (std::size_t group = 0; group < 2; ++group) {
      const auto expected = run["rates"][step][group].get<double>();
      EXPECT_NEAR(schedule.rate(static_cast<std::int64_t>(step), group), expected, 1e-12 * expected)
          << run["settings"] << ", step " << step << ", group " << group;
    }
  }
}

/// The common part of the options of a run; PyTorch counts `steps` from the end of the warm-up.
ScheduleOptions options_of(const Json& run, const char* steps) {
  const Json& s = run["settings"];
  const std::int64_t warmup = run["warmup"];
  return {.lr = run["lr"][0],
          .min_lr = s.value("eta_min", 0.0),
          .warmup = warmup,
          .steps = warmup + s.value(steps, std::int64_t{0})};
}

TEST(GoldenSchedule, constant) {
  for (const Json& run : runs_of("constant")) {
    ConstantSchedule schedule(options_of(run, ""));
    expect_rates(schedule, run);
  }
}

TEST(GoldenSchedule, cosine) {
  for (const Json& run : runs_of("cosine")) {
    CosineSchedule schedule(options_of(run, "T_max"));
    expect_rates(schedule, run);
  }
}

TEST(GoldenSchedule, cosine_with_restarts) {
  for (const Json& run : runs_of("cosine_restarts")) {
    const Json& s = run["settings"];
    CosineRestartsSchedule schedule({.lr = run["lr"][0],
                                     .min_lr = s.value("eta_min", 0.0),
                                     .warmup = run["warmup"],
                                     .t_0 = s["T_0"],
                                     .t_mult = s.value("T_mult", 1)});
    expect_rates(schedule, run);
  }
}

TEST(GoldenSchedule, step) {
  for (const Json& run : runs_of("step")) {
    const Json& s = run["settings"];
    StepSchedule schedule({.lr = run["lr"][0],
                           .warmup = run["warmup"],
                           .step_size = s["step_size"],
                           .gamma = s.value("gamma", 0.1)});
    expect_rates(schedule, run);
  }
}

TEST(GoldenSchedule, multi_step) {
  for (const Json& run : runs_of("multi_step")) {
    const Json& s = run["settings"];
    MultiStepSchedule schedule({.lr = run["lr"][0],
                                .warmup = run["warmup"],
                                .milestones = s["milestones"],
                                .gamma = s.value("gamma", 0.1)});
    expect_rates(schedule, run);
  }
}

TEST(GoldenSchedule, exponential) {
  for (const Json& run : runs_of("exponential")) {
    ExponentialSchedule schedule(
        {.lr = run["lr"][0], .warmup = run["warmup"], .gamma = run["settings"]["gamma"]});
    expect_rates(schedule, run);
  }
}

TEST(GoldenSchedule, polynomial) {
  for (const Json& run : runs_of("polynomial")) {
    PolynomialSchedule schedule(options_of(run, "total_iters"),
                                run["settings"].value("power", 1.0));
    expect_rates(schedule, run);
  }
}

TEST(GoldenSchedule, one_cycle) {
  for (const Json& run : runs_of("one_cycle")) {
    const Json& s = run["settings"];
    const bool linear = s.value("anneal_strategy", "cos") == "linear";
    OneCycleScheduleOptions o{.lr = run["lr"][0],
                              .steps = s["total_steps"],
                              .anneal_strategy = linear ? Anneal::linear : Anneal::cosine};
    o.pct_start = s.value("pct_start", o.pct_start);
    o.base_momentum = s.value("base_momentum", o.base_momentum);
    o.max_momentum = s.value("max_momentum", o.max_momentum);
    o.div_factor = s.value("div_factor", o.div_factor);
    o.final_div_factor = s.value("final_div_factor", o.final_div_factor);
    o.three_phase = s.value("three_phase", o.three_phase);
    OneCycleSchedule schedule(o);
    expect_rates(schedule, run);
    for (std::size_t step = 0; s.value("cycle_momentum", true) && step < run["momenta"].size();
         ++step) {
      EXPECT_NEAR(schedule.momentum(static_cast<std::int64_t>(step)),
                  run["momenta"][step].get<double>(), 1e-12)
          << s << ", step " << step;
    }
  }
}

TEST(GoldenSchedule, reduce_on_plateau) {
  using Options = PlateauScheduleOptions;
  for (const Json& run : runs_of("plateau")) {
    const Json& s = run["settings"];
    const bool rises = s.value("mode", "min") == "max";
    const bool absolute = s.value("threshold_mode", "rel") == "abs";
    Options o{
        .lr = run["lr"][0],
        .mode = rises ? Options::Mode::max : Options::Mode::min,
        .threshold_mode = absolute ? Options::ThresholdMode::abs : Options::ThresholdMode::rel};
    o.min_lr = s.value("min_lr", o.min_lr);
    o.factor = s.value("factor", o.factor);
    o.patience = s.value("patience", o.patience);
    o.threshold = s.value("threshold", o.threshold);
    o.cooldown = s.value("cooldown", o.cooldown);
    o.eps = s.value("eps", o.eps);
    PlateauSchedule schedule(o);
    expect_rates(schedule, run, [&](std::size_t step) { schedule.see(run["metrics"][step - 1]); });
  }
}

}  // namespace
}  // namespace tessera::optim
