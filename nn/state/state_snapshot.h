// Putting a tree's state back.
#pragma once

#include <utility>
#include <vector>

#include <tessera/nn/tree/module.h>

namespace tessera::nn {

/// The old values of a tree's slots and of the extra state that a load replaces.
class StateSnapshot {
 public:
  explicit StateSnapshot(const Module& root);
  /// Remembers the extra state of `module` too.
  void keep(HasExtraState& module) { extra_.emplace_back(&module, module.get_extra_state()); }
  /// Puts all back; what a module's own `set_extra_state` refuses is logged.
  void restore() const;

 private:
  struct Saved {
    SlotPtr slot;
    Tensor value;
    Tensor copy;
    DType dtype;
    Shape shape;
  };
  std::vector<Saved> slots_;
  std::vector<std::pair<HasExtraState*, Value>> extra_;
};

}  // namespace tessera::nn
