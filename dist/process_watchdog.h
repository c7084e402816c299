// The end of a process that cannot end by itself.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace tessera::dist {

/// While it lives, a thread of its own asks several times a second whether the process is stuck; if
/// so, it prints a text and ends the process, whatever its other threads wait for. The launcher
/// then ends the other ranks, stopped ones too. This is how a job ends when a rank stands still
/// while others wait for it inside MPI, where no exception can reach them.
class ProcessWatchdog {
 public:
  /// `stuck` and `text` are called on the thread; an empty text prints nothing.
  ProcessWatchdog(std::function<bool()> stuck, int exit_code, std::function<std::string()> text);
  ~ProcessWatchdog();
  ProcessWatchdog(const ProcessWatchdog&) = delete;
  ProcessWatchdog& operator=(const ProcessWatchdog&) = delete;

 private:
  void run();

  std::function<bool()> stuck_;
  int exit_code_;
  std::function<std::string()> text_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

/// True from `limit` after the call on; never for zero.
[[nodiscard]] std::function<bool()> after(std::chrono::milliseconds limit);

}  // namespace tessera::dist
