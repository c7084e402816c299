// Threads that prepare what will be needed soon.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera::data {

/// Runs tasks on threads of its own, which sleep between them. They work for the rank that made
/// this: they have its files and a copy of its Context.
class Workers {
 public:
  /// The threads start with the first task.
  explicit Workers(int threads) : count_(threads) {}
  /// Drops tasks that have not begun, and waits for those under way.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  [[nodiscard]] int count() const { return count_; }
  /// Tasks begin in the order of these calls. They must not throw.
  void start(std::function<void()> task);
  /// Drops tasks that have not begun.
  void clear();

 private:
  void start_threads();
  void run();

  int count_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tessera::data
