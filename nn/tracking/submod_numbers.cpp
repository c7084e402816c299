// How the modules of one class are told apart in traces.
#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include <tessera/nn/tree/module.h>

namespace tessera::nn {

/// Modules in the order in which they were first seen, by class.
struct SubmodNumbers {
  std::map<std::string, std::vector<const Module*>> seen;
};

int Module::submod_number(const Module& module) const {
  static std::mutex mutex;  // a module may be called from several threads
  const std::lock_guard lock(mutex);
  if (submod_numbers_ == nullptr) {
    submod_numbers_ = std::make_shared<SubmodNumbers>();
  }
  std::vector<const Module*>& known = submod_numbers_->seen[module.class_name()];
  auto found = std::ranges::find(known, &module);
  if (found == known.end()) {
    found = known.insert(found, &module);
  }
  return static_cast<int>(found - known.begin());
}

}  // namespace tessera::nn
