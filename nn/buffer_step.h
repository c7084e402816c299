// Buffers in a step of several microbatches.
//
// A step means: the user's lines on each microbatch alone, results averaged. So each microbatch
// reads a buffer's value from before the step and what it assigned itself; when the step ends, the
// new value is the mean of the microbatches' last ones.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include <tessera/core/base/context.h>
#include <tessera/nn/slot.h>

namespace tessera::nn {

/// What the microbatches of a step assigned to one buffer, on this rank.
class BufferStep {
 public:
  /// Takes the value of the current pass: of the buffer's shape, equal for all microbatches of the
  /// pass, or stacked, one a microbatch.
  void assign(const Slot& slot, const Tensor& value);
  /// What the current pass assigned, if it did.
  [[nodiscard]] std::optional<Tensor> own() const;
  /// Writes the assigned values as bytes to `values`, one of the buffer's size for each microbatch
  /// of the step, and 1 to their places in `assigned`. Forgets them.
  void take(const Slot& slot, std::span<std::uint8_t> values, std::span<std::uint8_t> assigned);

 private:
  struct Piece {
    std::int64_t count = 0;
    Tensor value;
  };
  std::uint64_t step_ = 0;
  std::map<std::int64_t, Piece> pieces_;  ///< by first microbatch of the pass
};

/// True while the thread works on some microbatches of a training step of several.
[[nodiscard]] bool in_step_of_several();

/// The mean of what the microbatches of a pass assigned, along the tree, where `value` holds one
/// for each, stacked; otherwise `value`. Throws InvalidArgument when they disagree on an integer or
/// bool.
[[nodiscard]] Tensor mean_of_pass(const Slot& slot, const Tensor& value);

/// Takes a write to a buffer in such a step.
void write_in_step(const SlotPtr& slot, const Tensor& value);

/// Ends the step for buffers: those of `synchronizers`, on all ranks that train together
/// (collective), and those that this thread assigned to and that no synchronizer keeps. Optimizers
/// call it in the last pass. Throws InvalidArgument, on every rank, when the microbatches disagree
/// on an integer or bool.
void end_step_of_buffers(std::span<Synchronizer* const> synchronizers);

}  // namespace tessera::nn
