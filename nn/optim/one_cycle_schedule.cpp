#include <tessera/nn/optim/one_cycle_schedule.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include <tessera/nn/optim/optimizer.h>
#include <tessera/nn/optim/option_checks.h>

namespace tessera::optim {
namespace {

void require_positive(const char* option, double value) {
  check<ValueError>(value > 0, "OneCycleSchedule: ", option, " out of range; got ", value,
                    ", expected more than 0");
}

}  // namespace

OneCycleSchedule::OneCycleSchedule(const OneCycleScheduleOptions& options)
    : Schedule(options.lr, 0), options_(options) {
  require_positive("steps", static_cast<double>(options.steps));
  require_positive("div_factor", options.div_factor);
  require_positive("final_div_factor", options.final_div_factor);
  check<ValueError>(options.pct_start >= 0 && options.pct_start <= 1,
                    "OneCycleSchedule: pct_start out of range; got ", options.pct_start,
                    ", expected [0, 1]");
  require_not_negative("OneCycleSchedule", "base_momentum", options.base_momentum);
  require_not_negative("OneCycleSchedule", "max_momentum", options.max_momentum);
}

double OneCycleSchedule::at(std::int64_t step, const Corners& corners) const {
  const auto last = static_cast<double>(options_.steps - 1);
  const double now = std::min(static_cast<double>(step), last);
  const double top = options_.pct_start * static_cast<double>(options_.steps) - 1;
  const double bottom = options_.three_phase ? 2 * top : top;
  const auto between = [&](double begin, double end, double from, double to) {
    const double part = end > begin ? (now - begin) / (end - begin) : 1;
    return options_.anneal_strategy == Anneal::linear
               ? from + part * (to - from)
               : to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * part));
  };
  if (now <= top) {
    return between(0, top, corners.first, corners.highest);
  }
  if (now <= bottom) {
    return between(top, bottom, corners.highest, corners.first);
  }
  return between(bottom, last, options_.three_phase ? corners.first : corners.highest,
                 corners.last);
}

double OneCycleSchedule::after_warmup(std::int64_t step, std::size_t group) const {
  const double first = highest(group) / options_.div_factor;
  return at(step,
            {.first = first, .highest = highest(group), .last = first / options_.final_div_factor});
}

double OneCycleSchedule::momentum(std::int64_t step) const {
  return at(step, {.first = options_.max_momentum,
                   .highest = options_.base_momentum,
                   .last = options_.max_momentum});
}

void OneCycleSchedule::apply(std::int64_t step, Optimizer& optimizer) const {
  const std::vector<double> all = rates(step, optimizer);  // what is refused changes nothing
  if (options_.cycle_momentum) {
    optimizer.set_momentum(momentum(step));
  }
  for (std::size_t group = 0; group < all.size(); ++group) {
    optimizer.set_lr(group, all[group]);
  }
}

}  // namespace tessera::optim
