// The classes of Tessera that bytes can hold: a line for each in nn/state/library/.
#pragma once

#include <vector>

#include <tessera/nn/state/class_entry.h>

namespace tessera::nn::detail {

/// All of them, under their names.
[[nodiscard]] std::vector<ClassEntry> library_classes();

// By group, each in a file of its own.
using ClassEntries = std::vector<ClassEntry>;
void add_activations(ClassEntries& all);
void add_attention(ClassEntries& all);
void add_layers(ClassEntries& all);
void add_lazy_layers(ClassEntries& all);
void add_losses(ClassEntries& all);

template <class... M>
void add_classes(ClassEntries& all) {
  (all.push_back(class_entry<M>(class_info<M>().name)), ...);
}

}  // namespace tessera::nn::detail
