// Where a module stands in its tree.
#include <algorithm>

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

int Module::mod_depth() const {
  int depth = 0;
  for (const Module* above = parent_; above != nullptr; above = above->parent_) {
    ++depth;
  }
  return depth;
}

int Module::mod_height() const {
  int height = 0;
  for (const ModulePtr& child : children()) {
    height = std::max(height, child->mod_height() + 1);
  }
  return height;
}

const Module& Module::top_mod(std::optional<int> levels) const {
  const Module* module = this;
  for (int climbed = 0; module->parent_ != nullptr && (!levels || climbed < *levels); ++climbed) {
    module = module->parent_;
  }
  return *module;
}

std::string Module::get_mod_key(const Module* top) const {
  std::string path;
  const Module* module = this;
  for (; module->parent_ != nullptr && module != top; module = module->parent_) {
    path = module->key() + (path.empty() ? "" : ".") + path;
  }
  check<ValueError>(top == nullptr || module == top, "get_mod_key: ", class_name(),
                    " is not below the given ", top == nullptr ? "" : top->class_name());
  return path;
}

}  // namespace tessera::nn
