// Keys of random numbers that a forward pass draws, as dropout does.
//
// A draw is keyed by (seed, step, module path, how many draws that path made since the pass began),
// and inside a draw every element by its sample's index in the global batch. So bits depend neither
// on how samples are dealt to ranks and passes nor on what other modules draw. Threads that share a
// Context take draws in the order in which they come; with a ContextScope each counts its own.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace tessera {

struct Context;  // core/base/context.h

/// Draws made since the pass began, by hash of the module path. Part of the Context. Threads that
/// share a Context may draw and copy it at once: copies are taken between draws.
struct RandomDraws {
  RandomDraws() = default;
  /// None yet, of the pass that `context` is in.
  explicit RandomDraws(const Context& context);
  RandomDraws(const RandomDraws& other);
  RandomDraws(RandomDraws&&) = default;
  RandomDraws& operator=(const RandomDraws& other);
  RandomDraws& operator=(RandomDraws&&) = default;
  ~RandomDraws() = default;

  std::unordered_map<std::uint64_t, std::uint64_t> counts;
  /// The pass that they belong to; another one begins at zero.
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  std::int64_t first = 0;
  bool behind_loop = false;       ///< they follow the passes of a training loop and are not theirs
  std::uint64_t evaluations = 0;  ///< loops of evaluation begun so far
  std::uint64_t evaluation = 0;   ///< of a pass of one: which loop and batch; 0 for others
};

/// The key of the running module's next draw in this pass. Counts it.
[[nodiscard]] std::uint64_t next_random_key();

/// A new pass begins: every path's draws count from zero again. Loaders call it; without it a pass
/// begins where the context's seed, step or first microbatch changes. Batches of evaluations, for
/// which the step stands still, draw by numbers of their own, `evaluation`.
void begin_random_pass(std::uint64_t evaluation = 0);

/// A loop of evaluation begins: its number among those of the pass, or of the time between loops,
/// from 1.
[[nodiscard]] std::uint64_t next_evaluation();

/// A training loop ended: what is drawn behind it does not depend on what its last pass drew, which
/// is another one on other ranks. Loaders call it.
void begin_draws_behind_loop();

/// Puts the counters back to `draws` until the scope ends: recomputation draws what its forward
/// drew.
class RandomScope {
 public:
  explicit RandomScope(RandomDraws draws);
  ~RandomScope();
  RandomScope(const RandomScope&) = delete;
  RandomScope& operator=(const RandomScope&) = delete;

 private:
  RandomDraws previous_;
};

/// While it lives, random numbers may be drawn on this thread, or, where not `allowed`,
/// `next_random_key` throws ValueError naming the module that asks, or, when that is the root of
/// its model, which has no path, `root`.
class RandomPermission {
 public:
  explicit RandomPermission(bool allowed, std::string root = {});
  ~RandomPermission();
  RandomPermission(const RandomPermission&) = delete;
  RandomPermission& operator=(const RandomPermission&) = delete;

 private:
  std::string root_;
  bool previous_;
  const std::string* previous_root_;
};

/// While it lives, what this thread draws is the training step's, not a sample's: the same numbers
/// for all of the step's microbatches, on all ranks, keyed by (seed, step, module path, how many
/// draws of this kind the path made since the pass began). For what happens once a step, such as
/// noise on weights behind `step()`; `rand` and `randn` may be called, too.
class StepDraws {
 public:
  /// Where not `on`, draws are each sample's again: so a thread brings back what another one, or
  /// the first run of what it runs once more, had.
  explicit StepDraws(bool on = true);
  ~StepDraws();
  StepDraws(const StepDraws&) = delete;
  StepDraws& operator=(const StepDraws&) = delete;
  /// True where one lives on this thread.
  [[nodiscard]] static bool alive() noexcept;

 private:
  bool previous_;
};

/// Lives while hooks on the gradient of a parameter run: once a training step, in another order
/// where ranks or passes share it. On a thread whose context trains with others, or in a step of
/// several microbatches, `next_random_key` throws Unsupported then.
class ParameterHookScope {
 public:
  ParameterHookScope();
  ~ParameterHookScope();
  ParameterHookScope(const ParameterHookScope&) = delete;
  ParameterHookScope& operator=(const ParameterHookScope&) = delete;
  /// True where one lives on this thread.
  [[nodiscard]] static bool alive() noexcept;

 private:
  bool previous_;
};

}  // namespace tessera
