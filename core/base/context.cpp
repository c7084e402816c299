#include <tessera/core/base/context.h>

#include <utility>

#include <tessera/core/base/elements_of_run.h>
#include <tessera/core/base/random_scope.h>

namespace tessera {
namespace {

/// The thread's, for itself and for whoever asks for a share.
std::shared_ptr<Context>& owned() {
  static const auto process_wide = std::make_shared<Context>();
  thread_local std::shared_ptr<Context> context = process_wide;
  return context;
}

/// What `owned` holds, null before the thread asks. Every op and gradient reads it: without the
/// call and the guard of a variable that a constructor makes.
[[gnu::tls_model("initial-exec")]] constinit thread_local Context* of_thread = nullptr;

std::shared_ptr<Context> exchange_context(std::shared_ptr<Context> context) {
  std::shared_ptr<Context> previous = std::exchange(owned(), std::move(context));
  of_thread = owned().get();
  return previous;
}

}  // namespace

Context::Context() : elements(std::make_shared<ElementsOfRun>()) {}

Context& Context::current() {
  if (of_thread == nullptr) [[unlikely]] {
    of_thread = owned().get();
  }
  return *of_thread;
}

std::shared_ptr<Context> Context::current_shared() {
  return owned();
}

ContextScope::ContextScope(std::shared_ptr<Context> context)
    : previous_(exchange_context(std::move(context))) {}

ContextScope::~ContextScope() {
  exchange_context(std::move(previous_));
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
