#include <tessera/nn/optim/schedule.h>

#include <tessera/nn/optim/optimizer.h>
#include <tessera/nn/optim/option_checks.h>

namespace tessera::optim {

void ScheduleOptions::validate() const {
  require_not_negative("schedule", "min_lr", min_lr);
  require_not_negative("schedule", "steps", static_cast<double>(steps));
}

double ScheduleOptions::part(std::int64_t step) const {
  const std::int64_t way = steps - warmup;
  return step >= way ? 1 : static_cast<double>(step) / static_cast<double>(way);
}

Schedule::Schedule(double lr, std::int64_t warmup) : warmup_(warmup) {
  require_not_negative("schedule", "warmup", static_cast<double>(warmup));
  Schedule::add_group(lr);
}

void Schedule::add_group(double lr) {
  require_not_negative("schedule", "lr", lr);
  highest_.push_back(lr);
}

double Schedule::rate(std::int64_t step, std::size_t group) const {
  check<ValueError>(step >= 0 && group < group_count(), "schedule: no rate for step ", step,
                    " of group ", group, "; there are ", group_count(), " groups");
  if (step < warmup_) {
    return highest(group) * static_cast<double>(step + 1) / static_cast<double>(warmup_ + 1);
  }
  return after_warmup(step - warmup_, group);
}

std::vector<double> Schedule::rates(std::int64_t step, const Optimizer& optimizer) const {
  const bool one_for_all = group_count() == 1;
  check<ValueError>(one_for_all || group_count() == optimizer.group_count(),
                    "schedule: has another number of groups than the optimizer; got ",
                    group_count(), ", expected 1 or ", optimizer.group_count());
  std::vector<double> found;
  for (std::size_t group = 0; group < optimizer.group_count(); ++group) {
    found.push_back(rate(step, one_for_all ? 0 : group));
  }
  return found;
}

void Schedule::apply(std::int64_t step, Optimizer& optimizer) const {
  for (std::size_t group = 0; const double lr : rates(step, optimizer)) {
    optimizer.set_lr(group++, lr);
  }
}

}  // namespace tessera::optim
