#include <tessera/nn/hooks/global_hooks.h>

namespace tessera::nn::global_hooks {

CallHooks& call() {
  static CallHooks hooks;
  return hooks;
}

}  // namespace tessera::nn::global_hooks
