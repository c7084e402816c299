// Where a module stands in its tree.
#include <algorithm>
#include <sstream>

#include <tessera/core/base/module_path.h>
#include <tessera/nn/tree/module.h>

namespace tessera::nn {

const std::string& Module::key() const {
  static const std::string none;
  if (parent_ == nullptr) {
    return none;
  }
  const auto entry = std::ranges::find_if(
      parent_->children_, [this](const ChildEntryPtr& e) { return e->module.get() == this; });
  return entry == parent_->children_.end() ? none : (*entry)->name;
}

/// The call under way is one of this module where its path leads there from the root.
std::vector<std::pair<std::string, const Module*>> Module::line_up() const {
  std::vector<std::pair<std::string, const Module*>> line;
  const Module* root = this;
  for (; root->parent_ != nullptr; root = root->parent_) {
    line.emplace_back(root->key(), root);
  }
  line.emplace_back("", root);
  std::vector<std::pair<std::string, const Module*>> called{line.back()};
  std::istringstream path(current_module_path());
  for (std::string step; std::getline(path, step, '.');) {
    const ChildEntryPtr child = called.back().second->find_child(step);
    if (child == nullptr || child->module == nullptr) {
      break;
    }
    called.emplace_back(step, child->module.get());
  }
  const auto self = std::ranges::find(called.rbegin(), called.rend(), this,
                                      [](const auto& step) { return step.second; });
  return self == called.rend() ? line : std::vector(self, called.rend());
}

std::string Module::full_name(std::string_view name) const {
  std::string path(name);
  for (const Module* at = this; at->parent_ != nullptr; at = at->parent_) {
    path = detail::dotted(at->key(), path);
  }
  return path;
}

void Module::name_slots() const {
  std::unordered_set<const Slot*> seen;
  name_slots(parent_ == nullptr ? "" : parent_->full_name(key()), seen);
}

void Module::name_slots(const std::string& path, std::unordered_set<const Slot*>& seen) const {
  for (const SlotEntryPtr& entry : slots_) {
    if (entry->slot != nullptr && seen.insert(entry->slot.get()).second) {
      entry->slot->name = detail::dotted(path, entry->name);
    }
  }
  for (const ChildEntryPtr& child : children_) {
    if (child->module != nullptr && child->module->parent_ == this) {
      child->module->name_slots(detail::dotted(path, child->name), seen);
    }
  }
}

int Module::mod_depth() const {
  return static_cast<int>(line_up().size()) - 1;
}

int Module::mod_height() const {
  int height = 0;
  for (const ModulePtr& child : children()) {
    height = std::max(height, child->mod_height() + 1);
  }
  return height;
}

const Module& Module::top_mod(std::optional<int> levels) const {
  const auto line = line_up();
  const std::size_t last = line.size() - 1;
  return *line[levels ? std::min(last, static_cast<std::size_t>(std::max(*levels, 0))) : last]
              .second;
}

std::string Module::get_mod_key(const Module* top) const {
  std::string path;
  for (const auto& [key, module] : line_up()) {
    if (module == top || key.empty()) {
      check<ValueError>(top == nullptr || module == top, "get_mod_key: ", class_name(),
                        " is not below the given ", top == nullptr ? "" : top->class_name());
      break;
    }
    path = key + (path.empty() ? "" : ".") + path;
  }
  return path;
}

}  // namespace tessera::nn
