#include <tessera/core/base/busy_scope.h>

#include <algorithm>
#include <mutex>
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
  const std::vector<Activity>& open = activities().open;
  const auto latest = std::find_if(open.rbegin(), open.rend(),
                                   [&](const Activity& each) { return each.context == &context; });
  return latest == open.rend() ? std::string() : latest->text;
}

}  // namespace tessera
