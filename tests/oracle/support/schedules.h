// Walking through the steps of a schedule.
#pragma once

#include <tessera/nn/optim/schedule.h>

#include "oracle/support/counterparts.h"

namespace tessera::oracle {

[[nodiscard]] inline Schedule::Numbers rates_of(const optim::Schedule& schedule,
                                                std::int64_t steps) {
  std::vector<double> rates;
  for (std::int64_t step = 0; step < steps; ++step) {
    rates.push_back(schedule.rate(step));
  }
  return {{"rates", rates}};
}

}  // namespace tessera::oracle
