// A list of modules of one type.
#pragma once

#include <vector>

#include <tessera/nn/module.h>

namespace tessera::nn {

/// Children named "0", "1", ... in order, and what else is put there by name. It has no forward:
/// the owner loops over it.
///
///   nn::Child<nn::ModuleList<Block>> blocks{this, "h"};
///   MyModel(int n) { for (int i = 0; i < n; ++i) blocks->add(width); }
///   ... for (const auto& block : *blocks) x = block(x);
template <std::derived_from<Module> M>
class ModuleList : public Module {
 public:
  /// Constructs one more module at the end.
  template <class... A>
  void add(A&&... arguments) {
    register_module(detail::next_number(detail::child_entries(*this)),
                    std::shared_ptr<M>(make<M>(std::forward<A>(arguments)...)));
  }
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  const Child<M>& operator[](std::size_t i) const { return items_[i]; }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  [[nodiscard]] bool joins_equal_children() const override { return true; }

 protected:
  [[nodiscard]] const ClassInfo* class_of_children() const override {
    return &detail::class_info<M>();
  }
  void children_changed() override {
    items_.clear();
    for (const ChildEntryPtr& entry : detail::child_entries(*this)) {
      if (entry->declared == class_of_children()) {  // else a member of a class derived from this
        items_.emplace_back(entry);
      }
    }
  }

 private:
  std::vector<Child<M>> items_;
};

}  // namespace tessera::nn
