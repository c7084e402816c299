#include <tessera/core/base/elements_of_run.h>

namespace tessera {

void ElementsOfRun::keep(const LossPlace& place, double elements) {
  const std::lock_guard lock(mutex_);
  known_[place] = elements;
}

double ElementsOfRun::keep_first(const LossPlace& place, double elements) {
  const std::lock_guard lock(mutex_);
  return known_.emplace(place, elements).first->second;
}

std::map<LossPlace, double> ElementsOfRun::all() const {
  const std::lock_guard lock(mutex_);
  return known_;
}

}  // namespace tessera
