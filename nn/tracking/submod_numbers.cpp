// How the modules of one class are told apart in traces.
#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include <tessera/nn/tracking/tracker.h>
#include <tessera/nn/tree/module_access.h>

namespace tessera::nn {

/// Modules in the order in which they were first seen, by class.
struct SubmodNumbers {
  std::map<std::string, std::vector<const Module*>> seen;
};

int submod_number(const Module& root, const Module& module) {
  static std::mutex mutex;  // a module may be called from several threads
  const std::lock_guard lock(mutex);
  std::shared_ptr<SubmodNumbers>& numbers = detail::progress_of(root).submod_numbers;
  if (numbers == nullptr) {
    numbers = std::make_shared<SubmodNumbers>();
  }
  std::vector<const Module*>& known = numbers->seen[module.class_name()];
  auto found = std::ranges::find(known, &module);
  if (found == known.end()) {
    found = known.insert(found, &module);
  }
  return static_cast<int>(found - known.begin());
}

}  // namespace tessera::nn
