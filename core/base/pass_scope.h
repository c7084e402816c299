// Another pass for a while.
#pragma once

#include <tessera/core/base/context.h>

namespace tessera {

/// Makes `pass` the current context's pass until the scope ends: an empty one for what happens
/// inside a step but is no part of it, as making state.
class PassScope {
 public:
  explicit PassScope(const Pass& pass) : previous_(Context::current().pass) {
    Context::current().pass = pass;
  }
  ~PassScope() { Context::current().pass = previous_; }
  PassScope(const PassScope&) = delete;
  PassScope& operator=(const PassScope&) = delete;

 private:
  Pass previous_;
};

}  // namespace tessera
