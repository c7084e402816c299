// A mutex of one byte.
#pragma once

#include <atomic>

namespace tessera {

/// Excludes threads from one another, as std::mutex does, in a byte: for what every parameter has
/// one of, takes in every step, and hardly ever has to wait for. Taking it costs one atomic
/// exchange and giving it back a plain store, half of what a mutex costs that looks for somebody to
/// wake: who waits lets other threads run, and looks again.
class SmallMutex {
 public:
  SmallMutex() = default;
  SmallMutex(const SmallMutex&) = delete;
  SmallMutex& operator=(const SmallMutex&) = delete;

  void lock() noexcept {
    if (taken_.exchange(true, std::memory_order_acquire)) [[unlikely]] {
      wait();
    }
  }
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }

 private:
  void wait() noexcept;

  std::atomic<bool> taken_{false};
};

}  // namespace tessera
