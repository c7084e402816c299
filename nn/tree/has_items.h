// Modules with a member for each child that was added to them.
#pragma once

namespace tessera::nn {

/// Told when children were put there by name: derive from this as well as from Module.
struct HasItems {
  virtual ~HasItems() = default;
  /// Makes the members anew. Throws TypeError for a child of another class than theirs.
  virtual void find_items() = 0;
};

}  // namespace tessera::nn
