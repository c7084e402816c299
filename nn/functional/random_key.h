// Random numbers of a call by a key of its own.
#pragma once

#include <memory>

#include <tessera/core/base/context.h>
#include <tessera/core/base/random_scope.h>
#include <tessera/core/tensor/factory_draws.h>
#include <tessera/nn/functional/call_options.h>
#include <tessera/nn/functional/call_state.h>

namespace tessera::nn {

/// The training step that the thread works on, whatever keys its calls were given.
[[nodiscard]] inline std::uint64_t training_step() {
  return CallState::current().step.value_or(Context::current().step);
}

/// Draws on this thread come from `key` while it lives.
class RandomKeyScope {
 public:
  explicit RandomKeyScope(const RandomKey& key) : step_(training_step()), context_(keyed(key)) {}

 private:
  static std::shared_ptr<Context> keyed(const RandomKey& key) {
    auto context = std::make_shared<Context>(*Context::current_shared());
    context->seed = key.seed;
    context->step = key.step;
    context->draws = {};
    return context;
  }

  CallStateGuard<&CallState::step> step_;
  ContextScope context_;
  RandomPermission permission_{true};
  CallStateGuard<&CallState::unkeyed> keyed_{false};
  FactoryDraws draws_;
};

}  // namespace tessera::nn
