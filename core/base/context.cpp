#include <tessera/core/base/context.h>

#include <utility>

#include <tessera/core/base/random_scope.h>

namespace tessera {
namespace {

std::shared_ptr<Context>& current_context() {
  static const auto process_wide = std::make_shared<Context>();
  thread_local std::shared_ptr<Context> current = process_wide;
  return current;
}

}  // namespace

Context& Context::current() {
  return *current_context();
}

std::shared_ptr<Context> Context::current_shared() {
  return current_context();
}

ContextScope::ContextScope(std::shared_ptr<Context> context)
    : previous_(std::exchange(current_context(), std::move(context))) {}

ContextScope::~ContextScope() {
  current_context() = std::move(previous_);
}

void set_seed(std::uint64_t seed) {
  Context& context = Context::current();
  context.seed = seed;
  context.models_made = 0;
  context.step = 0;
  context.factory_draws = 0;
  begin_random_pass();
}

}  // namespace tessera
