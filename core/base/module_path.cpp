#include <tessera/core/base/module_path.h>

#include <utility>
#include <vector>

namespace tessera {
namespace {

std::vector<std::string_view>& path() {
  thread_local std::vector<std::string_view> names;
  return names;
}

}  // namespace

ModulePathScope::ModulePathScope(std::string_view name) {
  path().push_back(name);
}

ModulePathScope::~ModulePathScope() {
  path().pop_back();
}

ModulePathOverride::ModulePathOverride(std::string replacement)
    : path_(std::move(replacement)), previous_(std::exchange(path(), {path_})) {}

ModulePathOverride::~ModulePathOverride() {
  path() = std::move(previous_);
}

bool module_is_running() noexcept {
  return !path().empty();
}

std::string current_module_path() {
  std::string text;
  for (const std::string_view name : path()) {
    if (!name.empty()) {
      text.append(text.empty() ? "" : ".").append(name);
    }
  }
  return text;
}

}  // namespace tessera
