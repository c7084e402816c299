// Random numbers of a call by a key of its own.
#pragma once

#include <memory>

#include <tessera/core/base/context.h>
#include <tessera/core/base/random_scope.h>
#include <tessera/core/tensor/factory_draws.h>
#include <tessera/nn/functional/call_options.h>
#include <tessera/nn/functional/call_state.h>

namespace tessera::nn {

/// Draws on this thread come from `key` while it lives.
class RandomKeyScope {
 public:
  explicit RandomKeyScope(const RandomKey& key) : context_(keyed(key)) {}

 private:
  static std::shared_ptr<Context> keyed(const RandomKey& key) {
    auto context = std::make_shared<Context>(*Context::current_shared());
    context->seed = key.seed;
    context->step = key.step;
    context->draws = {};
    return context;
  }

  ContextScope context_;
  RandomPermission permission_{true};
  CallStateGuard<&CallState::unkeyed> keyed_{false};
  FactoryDraws draws_;
};

}  // namespace tessera::nn
