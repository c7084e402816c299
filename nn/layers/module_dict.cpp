#include <tessera/nn/layers/module_dict.h>

namespace tessera::nn {

bool ModuleDict::contains(std::string_view key) const {
  const ChildEntryPtr entry = detail::find_child(*this, key);
  return entry != nullptr && entry->module != nullptr;
}

std::vector<std::string> ModuleDict::keys() const {
  std::vector<std::string> names;
  for (const ChildEntryPtr& child : detail::child_entries(*this)) {
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
  return detail::find_child(*this, key);
}

}  // namespace tessera::nn
