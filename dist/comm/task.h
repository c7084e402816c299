// A collective as a coroutine: it runs until it has to wait for another rank, and is resumed by
// whichever thread polls it next. So one piece of straight code serves the background thread and
// the thread that waits, and neither blocks inside it.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

namespace tessera::dist {

/// Owner of a suspended coroutine. Starts suspended; `advance` runs it as far as it gets.
class [[nodiscard]] Task {
 public:
  enum class Outcome { waiting, moved, done };

  struct promise_type {
    Outcome (*poll)(void*) = nullptr;  ///< asks what the coroutine waits for; null: nothing
    void* awaited = nullptr;
    std::exception_ptr error;

    Task get_return_object() { return Task(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { error = std::current_exception(); }
  };
  using Handle = std::coroutine_handle<promise_type>;

  Task() = default;
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) {
      handle_.destroy();
    }
  }

  /// Runs until the next wait that is not over yet. Rethrows what the coroutine threw.
  Outcome advance() {
    promise_type& promise = handle_.promise();
    if (promise.poll != nullptr) {
      const Outcome awaited = promise.poll(promise.awaited);
      if (awaited != Outcome::done) {
        return awaited;
      }
      promise.poll = nullptr;
    }
    handle_.resume();
    if (!handle_.done()) {
      return Outcome::moved;
    }
    if (promise.error) {
      std::rethrow_exception(std::exchange(promise.error, nullptr));
    }
    return Outcome::done;
  }

 private:
  explicit Task(Handle handle) : handle_(handle) {}
  Handle handle_;
};

/// `co_await Until{[&] { return condition; }}` goes on once the condition holds.
template <class Condition>
struct Until {
  Condition condition;

  bool await_ready() { return condition(); }
  void await_suspend(Task::Handle handle) noexcept {
    handle.promise().awaited = this;
    handle.promise().poll = [](void* self) {
      return static_cast<Until*>(self)->condition() ? Task::Outcome::done : Task::Outcome::waiting;
    };
  }
  void await_resume() const noexcept {}
};
template <class Condition>
Until(Condition) -> Until<Condition>;

/// `co_await Yield{}` lets other work and a waiting thread in, and then goes on.
struct Yield {
  bool await_ready() const noexcept { return false; }
  void await_suspend(Task::Handle handle) const noexcept { handle.promise().poll = nullptr; }
  void await_resume() const noexcept {}
};

/// `co_await Finish{task}` carries out another coroutine inside this one.
struct Finish {
  Task& task;

  bool await_ready() const noexcept { return false; }
  void await_suspend(Task::Handle handle) noexcept {
    handle.promise().awaited = this;
    handle.promise().poll = [](void* self) { return static_cast<Finish*>(self)->step(); };
  }
  void await_resume() const {
    if (error_) {
      std::rethrow_exception(error_);
    }
  }

 private:
  Task::Outcome step() noexcept {
    try {
      return task.advance();
    } catch (...) {
      error_ = std::current_exception();
      return Task::Outcome::done;
    }
  }
  std::exception_ptr error_ = nullptr;

 public:
  explicit Finish(Task& inner) : task(inner) {}
};

}  // namespace tessera::dist
