// Which passes belong to one training step.
#pragma once

#include <cstdint>
#include <memory>

#include <tessera/core/base/context.h>

namespace tessera {

/// Follows the passes that a thread works on, for what is kept from one to the next. A step whose
/// loop was left may be begun anew: a pass belongs to the step of the one before only where it lies
/// behind it.
class PassSequence {
 public:
  enum class Entered : std::uint8_t {
    same,   ///< the pass of the last call
    next,   ///< a later one of its step
    first,  ///< of a step: what was kept is of another one
  };

  /// Looks at the context's pass.
  Entered enter() { return enter(Context::current().step, &Context::current()); }
  /// Looks at the pass of training step `step` of `run`, which is only compared.
  Entered enter(std::uint64_t step, const void* run) {
    const Context& now = Context::current();
    const bool in_step = run_ == run && step_ == step;
    if (in_step && latest_ == now.pass.first && mark_.lock() == now.pass_mark) {
      return Entered::same;
    }
    const bool behind = in_step && now.pass.first > latest_;
    run_ = run;
    step_ = step;
    latest_ = now.pass.first;
    mark_ = now.pass_mark;
    first_ = behind ? first_ : latest_;
    return behind ? Entered::next : Entered::first;
  }

  [[nodiscard]] std::uint64_t step() const { return step_; }
  /// The microbatches at which the step's first pass and its latest begin.
  [[nodiscard]] std::int64_t first() const { return first_; }
  [[nodiscard]] std::int64_t latest() const { return latest_; }

 private:
  const void* run_ = nullptr;
  std::uint64_t step_ = 0;
  std::int64_t first_ = 0, latest_ = 0;
  std::weak_ptr<const void> mark_;  ///< of the latest
};

}  // namespace tessera
