// What a launched collective gives back: a handle on something that finishes later.
#pragma once

#include <chrono>
#include <exception>
#include <memory>

#include <tessera/core/base/clock.h>

namespace tessera::dist {

/// State of a collective under way, shared by the backend that carries it out and the handles that
/// wait for it. Backends derive from it.
class WorkState {
 public:
  virtual ~WorkState() = default;
  /// Blocks until done, at most until `deadline`; false when the deadline came first. The waiting
  /// thread may carry out the work itself. Never throws for a failed collective: see `error`.
  virtual bool wait_until(Time deadline) = 0;
  [[nodiscard]] virtual bool done() const = 0;
  /// Null while under way and after success.
  [[nodiscard]] virtual std::exception_ptr error() const = 0;
  /// Duration of the collective itself, zero until done.
  [[nodiscard]] virtual std::chrono::nanoseconds duration() const = 0;
};

/// Copyable handle. Owns what it needs to stay valid until done; destroying it does not cancel.
class Work {
 public:
  Work() = default;
  explicit Work(std::shared_ptr<WorkState> state) : state_(std::move(state)) {}

  /// Blocks until done and rethrows the collective's error, with its original type.
  void wait() const;
  /// Waits so long at most: throws Timeout when the time has passed first.
  void wait(Duration timeout) const;
  [[nodiscard]] bool done() const { return state_ == nullptr || state_->done(); }
  [[nodiscard]] std::chrono::nanoseconds duration() const;
  explicit operator bool() const { return state_ != nullptr; }
  [[nodiscard]] const std::shared_ptr<WorkState>& state() const { return state_; }

 private:
  std::shared_ptr<WorkState> state_;
};

}  // namespace tessera::dist
