#include <tessera/nn/hooks/state_hooks.h>

#include <tessera/nn/tree/module_access.h>

namespace tessera::nn {

StateHooks& detail::own_state_hooks(Module& module) {
  std::unique_ptr<StateHooks>& hooks = ModuleAccess::data(module).state_hooks;
  if (hooks == nullptr) {
    hooks = std::make_unique<StateHooks>();
  }
  return *hooks;
}

}  // namespace tessera::nn
