// Ends of a process that go past the destructor of its World.
#pragma once

#include <exception>
#include <functional>

namespace tessera::dist {

/// While it lives, an exception that nobody catches is told to `failed`, which ends the process,
/// and exit() or quick_exit() is told to `exits`. Where there are several, the newest is told. A
/// forked child is not meant.
class UnexpectedEnd {
 public:
  UnexpectedEnd(std::function<void(const std::exception_ptr&)> failed, std::function<void()> exits);
  ~UnexpectedEnd();
  UnexpectedEnd(const UnexpectedEnd&) = delete;
  UnexpectedEnd& operator=(const UnexpectedEnd&) = delete;

 private:
  static UnexpectedEnd* take();
  static void at_exit();
  [[noreturn]] static void at_terminate();

  std::function<void(const std::exception_ptr&)> failed_;
  std::function<void()> exits_;
};

}  // namespace tessera::dist
