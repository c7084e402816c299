// A module without its tensors: what `Module::flatten` leaves of it.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include <tessera/nn/tree/module.h>

namespace tessera::nn {

/// Classes, names, ties and settings of a tree of modules. Holds no tensors.
class TreeDef {
 public:
  /// `prototype` is a copy whose slots have no values.
  explicit TreeDef(std::shared_ptr<const Module> prototype) : prototype_(std::move(prototype)) {}
  /// Number of leaves: slots of the tree, each once.
  [[nodiscard]] std::size_t leaf_count() const;
  [[nodiscard]] const Module& prototype() const { return *prototype_; }
  /// Equal classes, names, ties and printed settings, in the same order.
  friend bool operator==(const TreeDef& a, const TreeDef& b);

 private:
  std::shared_ptr<const Module> prototype_;
};

}  // namespace tessera::nn
