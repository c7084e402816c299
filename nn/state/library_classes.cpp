#include <tessera/nn/state/library_classes.h>

namespace tessera::nn::detail {

// Called, not registered by static objects: these would be lost where a program links statically.
std::vector<ClassEntry> library_classes() {
  ClassEntries all;
  for (const auto add : {add_activations, add_attention, add_layers, add_lazy_layers, add_losses}) {
    add(all);
  }
  return all;
}

}  // namespace tessera::nn::detail
