// Frames: what answers reads of slots and takes writes to them in place of the slots.
#pragma once

#include <optional>

#include <tessera/nn/functional/call_state.h>
#include <tessera/nn/slot.h>

namespace tessera::nn {

/// Answers reads of slots and takes writes to them while it is on the thread's stack of frames:
/// what makes a module a pure function, or runs it with other weights. The newest frame that knows
/// a slot wins; below the last, the slot itself answers.
class Frame {
 public:
  virtual ~Frame() = default;
  /// The value to read in place of the slot's, or nothing to ask the next frame out.
  [[nodiscard]] virtual std::optional<Tensor> read(const Slot& slot) = 0;
  /// True when the frame took the write.
  virtual bool write(const SlotPtr& slot, const Tensor& value) = 0;
};

/// Puts `frame` on the calling thread's stack until the scope ends, by exception or not.
class FrameScope {
 public:
  explicit FrameScope(Frame& frame) : link_{&frame, CallState::current().frames}, guard_(&link_) {}

 private:
  CallState::FrameLink link_;
  CallStateGuard<&CallState::frames> guard_;
};

/// What a part of a forward that runs on another thread puts itself into: the frames and the rest
/// of the first thread's call state, taken there with `CallState::current()`. The first thread must
/// wait for it.
class CallStateScope {
 public:
  explicit CallStateScope(const CallState& state)
      : previous_(std::exchange(CallState::current(), state)) {}
  ~CallStateScope() { CallState::current() = previous_; }
  CallStateScope(const CallStateScope&) = delete;
  CallStateScope& operator=(const CallStateScope&) = delete;

 private:
  CallState previous_;
};

}  // namespace tessera::nn
