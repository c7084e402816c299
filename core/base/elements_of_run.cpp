#include <tessera/core/base/elements_of_run.h>

namespace tessera {

void ElementsOfRun::keep(const LossKey& loss, double elements) {
  const std::lock_guard lock(mutex_);
  known_[loss] = elements;
}

double ElementsOfRun::keep_first(const LossKey& loss, double elements) {
  const std::lock_guard lock(mutex_);
  return known_.emplace(loss, elements).first->second;
}

std::map<LossKey, double> ElementsOfRun::all() const {
  const std::lock_guard lock(mutex_);
  return known_;
}

}  // namespace tessera
