// What is special about the module calls under way on a thread.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace tessera::nn {

class Frame;
class Module;
class Tracker;

/// Thread-local. An ordinary call finds it empty.
struct CallState {
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

/// Sets one field of the thread's state until the scope ends, by exception or not.
template <auto Field>
class CallStateGuard {
 public:
  using Value = std::remove_reference_t<decltype(std::declval<CallState&>().*Field)>;
  explicit CallStateGuard(Value value)
      : previous_(std::exchange(CallState::current().*Field, std::move(value))) {}
  ~CallStateGuard() { CallState::current().*Field = previous_; }
  CallStateGuard(const CallStateGuard&) = delete;
  CallStateGuard& operator=(const CallStateGuard&) = delete;

 private:
  Value previous_;
};

}  // namespace tessera::nn
