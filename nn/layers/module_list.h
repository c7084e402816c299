// A list of modules of one type.
#pragma once

#include <string>
#include <vector>

#include <tessera/nn/module.h>
#include <tessera/nn/tree/has_items.h>

namespace tessera::nn {

/// Children named "0", "1", ... in order. It has no forward: the owner loops over it.
///
///   nn::Child<nn::ModuleList<Block>> blocks{this, "h"};
///   MyModel(int n) { for (int i = 0; i < n; ++i) blocks->add(width); }
///   ... for (const auto& block : *blocks) x = block(x);
template <std::derived_from<Module> M>
class ModuleList : public Module, public HasItems {
 public:
  /// Constructs one more module at the end.
  template <class... A>
  void add(A&&... arguments) {
    const auto name = std::to_string(items_.size());
    register_module(name, std::shared_ptr<M>(make<M>(std::forward<A>(arguments)...)));
    items_.emplace_back(child_entry(name));
  }
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  const Child<M>& operator[](std::size_t i) const { return items_[i]; }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  [[nodiscard]] bool joins_equal_children() const override { return true; }
  void find_items() override {
    items_.clear();
    for (const ChildEntryPtr& entry : child_entries()) {
      items_.emplace_back(entry);
    }
  }

 private:
  std::vector<Child<M>> items_;
};

}  // namespace tessera::nn
