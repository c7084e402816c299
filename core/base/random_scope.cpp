#include <tessera/core/base/random_scope.h>

#include <mutex>
#include <utility>

#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/base/module_path.h>
#include <tessera/core/base/philox.h>

namespace tessera {
namespace {

constinit thread_local bool may_draw = true;
constinit thread_local const std::string* root_of_call = nullptr;
constinit thread_local bool of_step = false;
constinit thread_local bool in_hook = false;

/// Threads that call one model may share a context.
constinit std::mutex counting;

/// Whose draws are counted: the running module's, of the step apart from those of samples.
std::uint64_t drawing_path() {
  const std::uint64_t path = hash_name(current_module_path());
  return of_step ? mix(path, hash_name("step")) : path;
}

/// The context's, begun anew where they are another pass's.
RandomDraws& draws_of_pass() {
  Context& context = Context::current();
  RandomDraws& draws = context.draws;
  if (draws.seed != context.seed || draws.step != context.step ||
      draws.first != context.pass.first) {
    draws = RandomDraws(context);
  }
  return draws;
}

std::string name_of_running_module() {
  std::string path = current_module_path();
  return path.empty() && root_of_call != nullptr ? *root_of_call : path;
}

}  // namespace

RandomDraws::RandomDraws(const Context& context)
    : seed(context.seed), step(context.step), first(context.pass.first) {}

RandomDraws::RandomDraws(const RandomDraws& other) {
  const std::scoped_lock lock(counting);
  counts = other.counts;
  seed = other.seed;
  step = other.step;
  first = other.first;
  behind_loop = other.behind_loop;
  evaluations = other.evaluations;
  evaluation = other.evaluation;
}

RandomDraws& RandomDraws::operator=(const RandomDraws& other) {
  return *this = RandomDraws(other);
}

std::uint64_t next_random_key() {
  check<ValueError>(may_draw, "random numbers: \"", name_of_running_module(),
                    "\" draws some in a pure call; give the call a key");
  const Context& context = Context::current();
  check<Unsupported>(
      !in_hook || (context.world_size == 1 && context.pass.grain == 1),
      "random numbers: drawn in a hook on a parameter's gradient, and such hooks run "
      "in another order on other ranks and passes; behind backward, in the step's "
      "last pass, set_grad takes noise that is drawn in a StepDraws");
  const std::scoped_lock lock(counting);
  RandomDraws& draws = draws_of_pass();
  const std::uint64_t running = drawing_path();
  const std::uint64_t behind =
      draws.behind_loop ? mix(running, hash_name("behind a loop")) : running;
  const std::uint64_t path = draws.evaluation != 0 ? mix(behind, draws.evaluation) : behind;
  const std::uint64_t draw = draws.counts[path]++;
  return mix(mix(mix(context.seed, context.step), path), draw);
}

void begin_random_pass(std::uint64_t evaluation) {
  const std::scoped_lock lock(counting);
  RandomDraws& draws = Context::current().draws;
  draws = RandomDraws(Context::current());
  draws.evaluation = evaluation;
}

std::uint64_t next_evaluation() {
  const std::scoped_lock lock(counting);
  return ++draws_of_pass().evaluations;
}

void begin_draws_behind_loop() {
  RandomDraws draws(Context::current());
  draws.behind_loop = true;
  Context::current().draws = std::move(draws);
}

RandomScope::RandomScope(RandomDraws draws) : previous_(std::move(draws)) {
  const std::scoped_lock lock(counting);
  std::swap(previous_, Context::current().draws);
}

RandomScope::~RandomScope() {
  const std::scoped_lock lock(counting);
  Context::current().draws = std::move(previous_);
}

RandomPermission::RandomPermission(bool allowed, std::string root)
    : root_(std::move(root)),
      previous_(std::exchange(may_draw, allowed)),
      previous_root_(std::exchange(root_of_call, &root_)) {}

RandomPermission::~RandomPermission() {
  may_draw = previous_;
  root_of_call = previous_root_;
}

StepDraws::StepDraws(bool on) : previous_(std::exchange(of_step, on)) {}

StepDraws::~StepDraws() {
  of_step = previous_;
}

bool StepDraws::alive() noexcept {
  return of_step;
}

ParameterHookScope::ParameterHookScope() : previous_(std::exchange(in_hook, true)) {}

ParameterHookScope::~ParameterHookScope() {
  in_hook = previous_;
}

bool ParameterHookScope::alive() noexcept {
  return in_hook;
}

}  // namespace tessera
