#include <tessera/nn/layers/module_dict.h>

#include <algorithm>

namespace tessera::nn {

bool ModuleDict::contains(std::string_view key) const {
  return std::ranges::any_of(child_entries(), [&](const ChildEntryPtr& child) {
    return child->name == key && child->module != nullptr;
  });
}

std::vector<std::string> ModuleDict::keys() const {
  std::vector<std::string> names;
  for (const ChildEntryPtr& child : child_entries()) {
    if (child->module != nullptr) {
      names.push_back(child->name);
    }
  }
  return names;
}

ModulePtr ModuleDict::pop(std::string_view key) {
  ModulePtr module = find(key)->module;
  erase(key);
  return module;
}

void ModuleDict::clear() {
  for (const std::string& key : keys()) {
    erase(key);
  }
}

ChildEntryPtr ModuleDict::find(std::string_view key) const {
  check<KeyError>(contains(key), "ModuleDict: no module \"", key, "\"");
  return *std::ranges::find(child_entries(), key, [](const ChildEntryPtr& c) { return c->name; });
}

}  // namespace tessera::nn
