#include <tessera/core/base/context.h>

#include <utility>

namespace tessera {
namespace {

std::shared_ptr<Context>& slot() {
  static const auto process_wide = std::make_shared<Context>();
  thread_local std::shared_ptr<Context> current = process_wide;
  return current;
}

}  // namespace

Context& Context::current() {
  return *slot();
}

std::shared_ptr<Context> Context::current_shared() {
  return slot();
}

ContextScope::ContextScope(std::shared_ptr<Context> context)
    : previous_(std::exchange(slot(), std::move(context))) {}

ContextScope::~ContextScope() {
  slot() = std::move(previous_);
}

void set_seed(std::uint64_t seed) {
  Context& context = Context::current();
  context.seed = seed;
  context.models_made = 0;
  context.step = 0;
}

}  // namespace tessera
