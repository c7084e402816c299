// What belongs to one rank and not to the process.
//
// Ranks may be threads of one process (the loopback backend), so nothing that a rank owns is
// global: its number, its seed, the microbatches it is working on. They hang off a Context that is
// thread-local and inherited by the streams and pool tasks that the rank starts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <tessera/core/base/random_scope.h>

namespace tessera {

struct BatchSource;   // core/base/batch_source.h
struct Loop;          // core/base/loop.h
class ElementsOfRun;  // core/base/elements_of_run.h
template <class Hook>
class HookList;  // core/base/hook_list.h

/// The microbatches of a global batch that the rank's current pass runs, see docs/determinism.md.
struct Pass {
  std::int64_t grain = 1;         ///< microbatches in the global batch, a power of two
  std::int64_t first = 0;         ///< index of the pass's first microbatch in [0, grain)
  std::int64_t count = 1;         ///< microbatches in the pass
  std::int64_t first_sample = 0;  ///< index in the global batch of the pass's first sample
  std::int64_t samples = 0;       ///< samples in the pass; 0 when no loader announced a pass
  bool last = true;               ///< the rank's last pass of the step
  bool training = true;           ///< false in evaluation, which changes no state

  friend bool operator==(const Pass&, const Pass&) = default;
};

/// State of one rank.
struct Context {
  Context();

  int rank = 0;
  int world_size = 1;
  std::uint64_t seed = 0;
  std::uint64_t models_made = 0;  ///< root models made since the seed was set
  std::uint64_t step = 0;         ///< global batches begun
  Pass pass;
  std::shared_ptr<const Loop> loop;       ///< whose pass it is; null: no loader's
  std::shared_ptr<const void> pass_mark;  ///< lives while the loop's body runs; null: no loader's
  bool mixes_samples = false;             ///< some module does: passes hold one microbatch
  RandomDraws draws;                      ///< see random_scope.h
  std::uint64_t factory_draws = 0;        ///< of `rand` and `randn` since the seed was set
  std::string log_prefix;                 ///< "[rank 1] ", empty when alone
  std::shared_ptr<const BatchSource> source;  ///< of the pass; null where nobody compares it
  std::shared_ptr<ElementsOfRun> elements;    ///< of losses; never null
  /// See at_begin_of_backward in core/autograd/engine.h; null while there are none.
  std::shared_ptr<HookList<std::function<void()>>> backward_listeners;

  /// The calling thread's context; every thread starts with one process-wide default.
  static Context& current();
  /// The calling thread's context, shared, to be handed to a thread that works for this rank.
  static std::shared_ptr<Context> current_shared();
};

/// Makes `context` the calling thread's current one until the scope ends.
class ContextScope {
 public:
  explicit ContextScope(std::shared_ptr<Context> context);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  std::shared_ptr<Context> previous_;
};

/// Sets the seed from which initialisation, dropout, data order, `rand` and `randn` follow: what is
/// drawn afterwards is what any other program with that seed draws.
void set_seed(std::uint64_t seed);

}  // namespace tessera
