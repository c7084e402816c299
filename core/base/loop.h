// A walk over the batches of a data loader, as the context knows it.
#pragma once

#include <cstdint>
#include <memory>

#include <tessera/core/base/context.h>

namespace tessera {

/// One loop over a loader. Loops may lie inside the passes of others, go in step with them, and end
/// in any order; the context's pass is that of the loop which moved on last.
struct Loop {
  std::uint64_t source = 0;            ///< a hash of what tells the loader's batches from others
  std::shared_ptr<const Loop> outer;   ///< in whose pass it began; null for none
  std::weak_ptr<const void> began_in;  ///< that pass
  Pass before;                         ///< the context's pass where it began without an outer loop
  std::uint64_t step_before = 0;
  std::uint64_t evaluation = 0;  ///< its number among evaluations; 0: it trains
  RandomDraws draws_before;
  std::uint64_t order =
      0;              ///< a hash of what its shuffled order follows from; 0: it is in sequence
  bool whole = true;  ///< its passes are all that the rank has of a step
  bool over = false;
  /// What the context had when it moved on last.
  Pass pass;
  std::shared_ptr<const void> mark;
  std::shared_ptr<const BatchSource> batches;
  std::uint64_t step = 0;
  std::int64_t first = 0;  ///< the microbatch at which its first pass of the step begins

  /// True while the pass in which it began is under way.
  [[nodiscard]] bool lies_in_outer() const {
    return outer != nullptr && !outer->over && outer->mark == began_in.lock();
  }
  /// The training loop in whose pass it lies, maybe inside others; null where there is none.
  [[nodiscard]] const Loop* training_around() const {
    const Loop* at = this;
    while (at->lies_in_outer()) {
      at = at->outer.get();
      if (at->pass.training) {
        return at;
      }
    }
    return nullptr;
  }
  /// True for an evaluation in a pass of a training step that has more: it runs in each of them.
  /// One that goes in step with the training has the same microbatches.
  [[nodiscard]] bool is_repeated() const {
    const Loop* training = pass.training ? nullptr : training_around();
    if (training == nullptr || training->whole || training->pass.last) {
      return false;
    }
    const Pass& around = training->pass;
    return pass.grain != around.grain || pass.first != around.first || pass.count != around.count;
  }
};

/// True where another training loop has begun the context's step with the microbatches of `pass`,
/// which `loop` is about to enter: the two go in step, and what was drawn in the pass counts on.
[[nodiscard]] bool is_begun_by_another(const Loop& loop, const Pass& pass);

/// A loop that begins in the context's pass, to train or to evaluate.
[[nodiscard]] std::shared_ptr<Loop> begin_loop(std::uint64_t source, bool trains);

/// Makes the context's pass the loop's: the loop moved on. `batches` is null where nobody compares
/// them.
void enter_pass(const std::shared_ptr<Loop>& loop, const Pass& pass,
                std::shared_ptr<const BatchSource> batches);

/// Ends the loop. Where the context's pass is its, or that of a loop which began inside it, the
/// context gets the latest pass of the loop around it again, with its step, or the one from before.
/// The counts of draws are those from before, too, unless the loop trained. Where the context's
/// pass is another loop's, it stays.
void leave_loop(Loop& loop);

}  // namespace tessera
