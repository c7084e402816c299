#include <tessera/dist/process_watchdog.h>

#include <cstdlib>
#include <iostream>
#include <utility>

#include <tessera/core/base/clock.h>

namespace tessera::dist {
namespace {

constexpr std::chrono::milliseconds kInterval{100};

}  // namespace

ProcessWatchdog::ProcessWatchdog(std::function<bool()> stuck, int exit_code,
                                 std::function<std::string()> text)
    : stuck_(std::move(stuck)),
      exit_code_(exit_code),
      text_(std::move(text)),
      thread_([this] { run(); }) {}

ProcessWatchdog::~ProcessWatchdog() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void ProcessWatchdog::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (stuck_()) {
      if (const std::string text = text_(); !text.empty()) {
        std::cerr << text + "\n" << std::flush;
      }
      std::_Exit(exit_code_);  // destructors would wait for what is stuck
    }
    clock().wait_until(wake_, lock, clock().now() + kInterval);
  }
}

std::function<bool()> after(std::chrono::milliseconds limit) {
  const Time end = clock().now() + limit;
  return [limit, end] { return limit.count() > 0 && clock().now() >= end; };
}

}  // namespace tessera::dist
