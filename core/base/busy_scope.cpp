#include <tessera/core/base/busy_scope.h>

#include <algorithm>
#include <mutex>
#include <ranges>
#include <utility>
#include <vector>

namespace tessera {
namespace {

struct Activity {
  const BusyScope* scope;
  const Context* context;
  std::string text;
};

// Never destroyed: scopes of other threads may outlive any static of this file.
struct Activities {
  std::mutex mutex;
  std::vector<Activity> open;
};

Activities& activities() {
  static auto* const instance = new Activities;
  return *instance;
}

}  // namespace

BusyScope::BusyScope(std::string activity) : context_(Context::current_shared()) {
  const std::lock_guard lock(activities().mutex);
  activities().open.push_back({this, context_.get(), std::move(activity)});
}

BusyScope::~BusyScope() {
  const std::lock_guard lock(activities().mutex);
  std::erase_if(activities().open, [this](const Activity& each) { return each.scope == this; });
}

std::string activity_of(const Context& context) {
  const std::lock_guard lock(activities().mutex);
  for (const Activity& each : activities().open | std::views::reverse) {
    if (each.context == &context) {
      return each.text;
    }
  }
  return {};
}

}  // namespace tessera
