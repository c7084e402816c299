#include <tessera/nn/hooks/global_hooks.h>

namespace tessera::nn::global_hooks {
namespace {

/// Out of line, so that who asks for them saves no registers for it: every call of a module does.
[[gnu::noinline]] CallHooks* make_hooks() {
  return new CallHooks;
}

}  // namespace

CallHooks& call() {
  static CallHooks* const hooks = make_hooks();  // never destroyed: modules may be static objects
  return *hooks;
}

}  // namespace tessera::nn::global_hooks
