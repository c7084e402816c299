// Walking through the steps of a schedule.
#pragma once

#include <functional>

#include <tessera/nn/optim/schedule.h>

#include "oracle/support/counterparts.h"

namespace tessera::oracle {

/// The highest rate of the first group of parameters.
[[nodiscard]] inline double lr_of(const Attributes& a, const char* name = "lr") {
  return a.numbers(name).at(0);
}

/// The rates of all groups, step by step, where `name` lists their highest; `after` is called
/// behind every step.
[[nodiscard]] inline Schedule::Numbers rates_of(
    optim::Schedule& schedule, const Attributes& a, std::int64_t steps, const char* name = "lr",
    const std::function<void(std::int64_t)>& after = [](std::int64_t) {}) {
  const std::vector<double> highest = a.numbers(name);
  for (std::size_t group = 1; group < highest.size(); ++group) {
    schedule.add_group(highest[group]);
  }
  std::vector<double> rates;
  for (std::int64_t step = 0; step < steps; ++step) {
    for (std::size_t group = 0; group < highest.size(); ++group) {
      rates.push_back(schedule.rate(step, group));
    }
    after(step);
  }
  return {{"rates", rates}};
}

/// Of the linear rise before, if there is one.
[[nodiscard]] inline std::int64_t warmup_of(const Attributes& a) {
  return a.integer("warmup", 0);
}

}  // namespace tessera::oracle
