// What is special about the module calls under way on a thread.
#pragma once

#include <cstdint>
#include <optional>

#include <tessera/core/tensor/modes.h>

namespace tessera::nn {

class Frame;
class Module;
class Tracker;

/// Thread-local; one for the whole program, also where a part is compiled with
/// -fvisibility=hidden. An ordinary call finds it empty.
struct [[gnu::visibility("default")]] CallState {
  struct FrameLink {
    Frame* frame;
    const FrameLink* outer;
  };

  const FrameLink* frames = nullptr;  ///< innermost first
  const Module* pure = nullptr;       ///< of the pure call under way, which runs no hooks
  std::optional<bool> training;       ///< in place of the modules' own flags
  Tracker* tracker = nullptr;         ///< records what modules return
  std::optional<std::uint64_t> step;  ///< the training step, where a call's key hides it
  bool unkeyed = false;               ///< a pure call without a key, which draws nothing
  bool declaring = false;             ///< calls tell shapes alone; see nn/build/builder.h

  static CallState& current() noexcept {
    [[gnu::tls_model("initial-exec")]] static constinit thread_local CallState state;
    return state;
  }
};

template <auto Field>
using CallStateGuard = StateGuard<CallState, Field>;

}  // namespace tessera::nn
