#include <tessera/nn/tree/position.h>

#include <algorithm>
#include <sstream>

#include <tessera/core/base/module_path.h>
#include <tessera/nn/tree/lookup.h>
#include <tessera/nn/tree/module_access.h>

namespace tessera::nn::detail {
namespace {

const Module* parent_of(const Module& module) {
  return ModuleAccess::data(module).parent;
}

using Line = std::vector<std::pair<std::string, const Module*>>;

/// The module and the names and modules above it, up to the root. The call under way is one of this
/// module where its path leads there from the root.
Line line_up(const Module& module) {
  Line line;
  const Module* root = &module;
  for (; parent_of(*root) != nullptr; root = parent_of(*root)) {
    line.emplace_back(key(*root), root);
  }
  line.emplace_back("", root);
  Line called{line.back()};
  std::istringstream path(current_module_path());
  for (std::string step; std::getline(path, step, '.');) {
    const ChildEntryPtr child = find_child(*called.back().second, step);
    if (child == nullptr || child->module == nullptr) {
      break;
    }
    called.emplace_back(step, child->module.get());
  }
  const auto found = std::ranges::find(called.rbegin(), called.rend(), &module,
                                       [](const auto& step) { return step.second; });
  return found == called.rend() ? line : Line(found, called.rend());
}

void name_slots_at(const Module& module, const std::string& path,
                   std::unordered_set<const Slot*>& seen) {
  for (const SlotEntryPtr& entry : slot_entries(module)) {
    if (entry->slot != nullptr && seen.insert(entry->slot.get()).second) {
      entry->slot->name = dotted(path, entry->name);
    }
  }
  for (const ChildEntryPtr& child : child_entries(module)) {
    if (child->module != nullptr && parent_of(*child->module) == &module) {
      name_slots_at(*child->module, dotted(path, child->name), seen);
    }
  }
}

}  // namespace

std::string key(const Module& module) {
  const Module* parent = parent_of(module);
  if (parent == nullptr) {
    return {};
  }
  const auto entry = std::ranges::find_if(
      child_entries(*parent), [&](const ChildEntryPtr& e) { return e->module.get() == &module; });
  return entry == child_entries(*parent).end() ? std::string() : (*entry)->name;
}

std::string full_name(const Module& module, std::string_view name) {
  std::string path(name);
  for (const Module* at = &module; parent_of(*at) != nullptr; at = parent_of(*at)) {
    path = dotted(key(*at), path);
  }
  return path;
}

void name_slots(const Module& module) {
  std::unordered_set<const Slot*> seen;
  const Module* parent = parent_of(module);
  name_slots_at(module, parent == nullptr ? "" : full_name(*parent, key(module)), seen);
}

int mod_depth(const Module& module) {
  return static_cast<int>(line_up(module).size()) - 1;
}

int mod_height(const Module& module) {
  int height = 0;
  for (const ModulePtr& child : module.children()) {
    height = std::max(height, mod_height(*child) + 1);
  }
  return height;
}

const Module& top_mod(const Module& module, std::optional<int> levels) {
  const Line line = line_up(module);
  const std::size_t last = line.size() - 1;
  return *line[levels ? std::min(last, static_cast<std::size_t>(std::max(*levels, 0))) : last]
              .second;
}

std::string get_mod_key(const Module& module, const Module* top) {
  std::string path;
  for (const auto& [key, step] : line_up(module)) {
    if (step == top || key.empty()) {
      check<ValueError>(top == nullptr || step == top, "get_mod_key: ", module.class_name(),
                        " is not below the given ", top == nullptr ? "" : top->class_name());
      break;
    }
    path = key + (path.empty() ? "" : ".") + path;
  }
  return path;
}

}  // namespace tessera::nn::detail
