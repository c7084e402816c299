// Frames: what answers reads of slots and takes writes to them in place of the slots.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include <tessera/core/base/context.h>
#include <tessera/core/base/module_path.h>
#include <tessera/core/base/random_scope.h>
#include <tessera/core/tensor/modes.h>
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

/// One that answers reads of the slots that it keeps a value for.
class KeepingFrame : public Frame {
 public:
  [[nodiscard]] std::optional<Tensor> read(const Slot& slot) override {
    const auto found = values_.find(&slot);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }

 protected:
  std::unordered_map<const Slot*, Tensor> values_;
};

/// Puts `frame` on the calling thread's stack until the scope ends, by exception or not.
class FrameScope {
 public:
  explicit FrameScope(Frame& frame) : link_{&frame, CallState::current().frames}, guard_(&link_) {}

 private:
  CallState::FrameLink link_;
  CallStateGuard<&CallState::frames> guard_;
};

/// The frames, training flag, modes (tape, autocast, checkpointing) and random numbers of the calls
/// under way on the thread that makes it, for a part of a forward that runs on another one. The
/// first thread must wait for that; inside a checkpointed region, for one part at a time.
class CallInheritance {
 public:
  CallInheritance() = default;

 private:
  friend class CallInheritanceScope;
  CallState state_ = CallState::current();
  Modes modes_ = Modes::current();
  std::shared_ptr<Context> context_ = Context::current_shared();
  std::string path_ = current_module_path();
  bool step_draws_ = StepDraws::alive();
};

/// What that part of the forward puts itself into.
class CallInheritanceScope {
 public:
  explicit CallInheritanceScope(const CallInheritance& from)
      : previous_(std::exchange(CallState::current(), from.state_)),
        previous_modes_(std::exchange(Modes::current(), from.modes_)),
        context_(from.context_),
        path_(from.path_),
        permission_(!from.state_.unkeyed),
        step_draws_(from.step_draws_) {}
  ~CallInheritanceScope() {
    CallState::current() = previous_;
    Modes::current() = previous_modes_;
  }
  CallInheritanceScope(const CallInheritanceScope&) = delete;
  CallInheritanceScope& operator=(const CallInheritanceScope&) = delete;

 private:
  CallState previous_;
  Modes previous_modes_;
  ContextScope context_;
  ModulePathOverride path_;
  RandomPermission permission_;
  StepDraws step_draws_;
};

}  // namespace tessera::nn
