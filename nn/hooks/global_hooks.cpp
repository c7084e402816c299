#include <tessera/nn/hooks/global_hooks.h>

namespace tessera::nn::global_hooks {

ForwardHooks& forward() {
  static ForwardHooks hooks;
  return hooks;
}

}  // namespace tessera::nn::global_hooks
