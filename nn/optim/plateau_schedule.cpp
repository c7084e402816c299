#include <tessera/nn/optim/plateau_schedule.h>

#include <algorithm>
#include <limits>
#include <map>

#include <tessera/nn/optim/option_checks.h>

namespace tessera::optim {

using Mode = PlateauScheduleOptions::Mode;
using ThresholdMode = PlateauScheduleOptions::ThresholdMode;

PlateauSchedule::PlateauSchedule(const PlateauScheduleOptions& options)
    : Schedule(options.lr, options.warmup),
      options_(options),
      rates_{options.lr},
      best_(options.mode == Mode::min ? std::numeric_limits<double>::infinity()
                                      : -std::numeric_limits<double>::infinity()) {
  require_not_negative("PlateauSchedule", "min_lr", options.min_lr);
  require_below_one("PlateauSchedule", "factor", options.factor);
  require_not_negative("PlateauSchedule", "patience", static_cast<double>(options.patience));
  require_not_negative("PlateauSchedule", "threshold", options.threshold);
  require_not_negative("PlateauSchedule", "cooldown", static_cast<double>(options.cooldown));
  require_not_negative("PlateauSchedule", "eps", options.eps);
}

bool PlateauSchedule::improves(double metric) const {
  const double sign = options_.mode == Mode::min ? -1 : 1;
  const bool relative = options_.threshold_mode == ThresholdMode::rel;
  const double bar =
      relative ? best_ * (1 + sign * options_.threshold) : best_ + sign * options_.threshold;
  return options_.mode == Mode::min ? metric < bar : metric > bar;
}

void PlateauSchedule::see(double metric) {
  if (improves(metric)) {
    best_ = metric;
    without_improvement_ = 0;
  } else {
    ++without_improvement_;
  }
  if (cooldown_left_ > 0) {
    --cooldown_left_;
    without_improvement_ = 0;
  }
  if (without_improvement_ <= static_cast<double>(options_.patience)) {
    return;
  }
  cooldown_left_ = static_cast<double>(options_.cooldown);
  without_improvement_ = 0;
  for (double& rate : rates_) {
    const double lower = std::max(rate * options_.factor, options_.min_lr);
    rate = rate - lower > options_.eps ? lower : rate;
  }
}

void PlateauSchedule::add_group(double lr) {
  Schedule::add_group(lr);
  rates_.push_back(lr);
}

double PlateauSchedule::after_warmup(std::int64_t /*step*/, std::size_t group) const {
  return rates_[group];
}

void PlateauSchedule::each_number(auto& schedule, const auto& f) {
  f("best", schedule.best_);
  f("without_improvement", schedule.without_improvement_);
  f("cooldown_left", schedule.cooldown_left_);
  for (std::size_t group = 0; group < schedule.rates_.size(); ++group) {
    f("rate." + std::to_string(group), schedule.rates_[group]);
  }
}

Schedule::State PlateauSchedule::state() const {
  State state;
  each_number(*this,
              [&](const std::string& name, double number) { state.emplace_back(name, number); });
  return state;
}

void PlateauSchedule::load_state(const State& state) {
  std::map<std::string, double> saved(state.begin(), state.end());
  PlateauSchedule loaded = *this;
  each_number(loaded, [&](const std::string& name, double& number) {
    const auto entry = saved.find(name);
    check<ValueError>(entry != saved.end(), "load_state: no number named ", name);
    number = saved.extract(entry).mapped();
  });
  check<ValueError>(saved.empty(), "load_state: no number named ",
                    saved.empty() ? "" : saved.begin()->first, " here; the schedule has ",
                    rates_.size(), " groups");
  *this = loaded;
}

}  // namespace tessera::optim
