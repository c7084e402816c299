// Thread-local switches of the call pipeline, and the guards that set them for a scope.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <tessera/core/tensor/dtype.h>

namespace tessera {

class OutsideReads;      // core/autograd/outside_reads.h
class SavedTensorHooks;  // core/autograd/saved_tensor.h

/// How an op that sums over the batch hands over its sum while a gradient is computed.
enum class BatchSum : std::uint8_t {
  per_microbatch,  ///< one piece a microbatch, in a new dim 0: what forward does, and backward
                   ///< below shared uses
  tree,            ///< one sum, added along the tree over microbatches
};

/// One for the whole program, also where a part is compiled with -fvisibility=hidden.
struct [[gnu::visibility("default")]] Modes {
  bool record = true;      ///< ops go on the tape
  bool inference = false;  ///< results can never go on a tape
  BatchSum batch_sum = BatchSum::per_microbatch;
  SavedTensorHooks* saved_hooks = nullptr;  ///< replaces how the tape keeps tensors
  std::optional<DType> autocast;            ///< see core/dispatch/autocast.h
  bool recomputing = false;                 ///< see core/autograd/checkpoint.h
  OutsideReads* outside_reads = nullptr;    ///< of the checkpointed region that runs

  static Modes& current() noexcept {
    [[gnu::tls_model("initial-exec")]] static constinit thread_local Modes modes;
    return modes;
  }
};

/// Sets one field of the thread's `State` until the scope ends, by exception or not.
template <class State, auto Field>
class StateGuard {
 public:
  using Value = std::remove_reference_t<decltype(std::declval<State&>().*Field)>;
  explicit StateGuard(Value value)
      : previous_(std::exchange(State::current().*Field, std::move(value))) {}
  ~StateGuard() { State::current().*Field = previous_; }
  StateGuard(const StateGuard&) = delete;
  StateGuard& operator=(const StateGuard&) = delete;

 private:
  Value previous_;
};
template <auto Field>
using ModeGuard = StateGuard<Modes, Field>;

/// Ops are not recorded while it lives.
class NoGradGuard {
 public:
  NoGradGuard() = default;

 private:
  ModeGuard<&Modes::record> guard_{false};
};

/// Ops are recorded while it lives, also inside a NoGradGuard.
class EnableGradGuard {
 public:
  EnableGradGuard() = default;

 private:
  ModeGuard<&Modes::record> guard_{true};
};

/// Like NoGradGuard, and what is made while it lives can never go on a tape: cheapest for
/// evaluation. Views and detached copies of such a tensor cannot either; ops may read it as a
/// constant. What is told to require a gradient while the guard lives is an ordinary leaf: a module
/// may be built there.
class InferenceGuard {
 public:
  InferenceGuard() = default;

 private:
  ModeGuard<&Modes::record> record_{false};
  ModeGuard<&Modes::inference> inference_{true};
};

[[nodiscard]] inline bool grad_enabled() noexcept {
  return Modes::current().record;
}

}  // namespace tessera
