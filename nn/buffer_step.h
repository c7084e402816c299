// Buffers in a step of several microbatches.
//
// A step means: the user's lines on each microbatch alone, results averaged. So each microbatch
// reads a buffer's value from before the step and what it assigned itself; when the step ends, the
// new value is the mean of the microbatches' last ones, all of which have to assign one then. What
// ends it is the first optimizer's step after the assignment, of whatever model, in the last pass,
// or the loop, which moves on; in the passes before, a buffer is not to be used between that
// optimizer's step and the next pass, as its parameters are not. What the loop's body assigns
// behind an optimizer's step in the last pass, or a hook on a parameter's gradient, equal for all
// microbatches, is the buffer's value at once; such a hook reads the value from before the step.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <tessera/core/base/context.h>
#include <tessera/core/base/pass_sequence.h>
#include <tessera/nn/slot.h>

namespace tessera::nn {

/// What the microbatches of a step assigned to one buffer, on this rank.
class BufferStep {
 public:
  /// Takes the value of the current pass: of the buffer's shape, equal for all microbatches of the
  /// pass, or stacked, one a microbatch. Throws RuntimeError after `put_off` in this pass.
  void assign(const Slot& slot, const Tensor& value);
  /// What the current pass assigned, if it did and no optimizer's step came after it.
  [[nodiscard]] std::optional<Tensor> own() const;
  /// Optimizer `by` took its step in a pass that is not the last.
  void put_off(Slot& slot, const void* by);
  /// True where a step of `by` in the last pass ends the step for the buffer: the last pass
  /// assigned to it, or an earlier one did before a step of `by`. Null stands for the loop, which
  /// ends it anyway.
  [[nodiscard]] bool ends_with(const void* by) const;
  /// True while it holds values.
  [[nodiscard]] bool open() const { return !values_.empty(); }
  /// Writes the assigned values as bytes to `values`, one of the buffer's size for each microbatch
  /// of the step, and 1 to their places in `assigned`.
  void take(const Slot& slot, std::span<std::uint8_t> values,
            std::span<std::uint8_t> assigned) const;
  /// Forgets them: they have become the buffer's value.
  void end();

 private:
  struct PassValue {
    std::int64_t count = 0;
    Tensor value;
    std::weak_ptr<const void> pass;  ///< its mark
  };
  void forget(const Slot& slot);
  [[nodiscard]] bool assigned() const;

  PassSequence passes_;
  std::weak_ptr<const void> put_off_in_;      ///< the mark of a pass
  std::vector<const void*> put_off_by_;       ///< optimizers, in this step
  std::map<std::int64_t, PassValue> values_;  ///< by first microbatch of the pass
};

/// True while the thread works on some microbatches of a training step of several.
[[nodiscard]] bool in_step_of_several();

/// The mean of what the microbatches of a pass assigned, along the tree, where `value` holds one
/// for each, stacked; otherwise `value`. Throws InvalidArgument when they disagree on an integer or
/// bool.
[[nodiscard]] Tensor mean_of_pass(const Slot& slot, const Tensor& value);

/// Takes a write to a buffer in such a step.
void write_in_step(const SlotPtr& slot, const Tensor& value);

/// Says that `ownership` keeps buffers of this thread's models equal on several ranks.
void add_keeper_of_buffers(const std::shared_ptr<Ownership>& ownership);

/// Ends the step for the buffers that a step of optimizer `by` ends, in all models of the thread,
/// on all ranks that train together (collective). Optimizers call it in the last pass, and loaders,
/// with null, when that is over, for what is left: then it is collective where some is. Throws
/// InvalidArgument, on every rank, when the microbatches disagree on an integer or bool, and
/// RuntimeError where some of them assigned nothing; then no buffer is changed, and what ends the
/// step next throws again.
void end_step_of_buffers(const void* by);
/// Compares what ranks assigned behind the last step of a training loop in which an optimizer
/// stepped, and no step follows (collective). Throws Disagreement on every rank.
void end_loop_of_buffers();
/// Puts that off: optimizers call it in the passes before.
void put_off_end_of_buffers(const void* by);

}  // namespace tessera::nn
