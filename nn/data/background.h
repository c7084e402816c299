// One thread that does one thing at a time.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace tessera::data {

/// Runs tasks on a thread of its own, which sleeps between them. The thread works for the rank that
/// made this: it has its Context.
class Background {
 public:
  Background() = default;
  /// Waits for the task under way.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Hands over the next task; the one before must have been waited for. The first call starts the
  /// thread.
  void start(std::function<void()> task);
  /// Blocks until the task is done, and rethrows what it threw.
  void wait();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> task_;  ///< null when there is nothing to do
  std::exception_ptr error_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace tessera::data
