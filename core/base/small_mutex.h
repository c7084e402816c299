// A mutex of four bytes.
#pragma once

#include <atomic>
#include <cstdint>

namespace tessera {

/// Excludes threads from one another, as std::mutex does, in a tenth of its bytes and, where no
/// other thread wants it, without a call: for what every parameter has one of, and takes in every
/// step. Who waits sleeps. (U. Drepper, Futexes Are Tricky, 2011, mutex 2.)
class SmallMutex {
 public:
  SmallMutex() = default;
  SmallMutex(const SmallMutex&) = delete;
  SmallMutex& operator=(const SmallMutex&) = delete;

  void lock() noexcept {
    std::uint32_t state = kFree;
    if (!state_.compare_exchange_strong(state, kTaken, std::memory_order_acquire)) [[unlikely]] {
      wait();
    }
  }
  void unlock() noexcept {
    if (state_.exchange(kFree, std::memory_order_release) == kWanted) [[unlikely]] {
      state_.notify_one();
    }
  }

 private:
  static constexpr std::uint32_t kFree = 0, kTaken = 1, kWanted = 2;

  void wait() noexcept {
    while (state_.exchange(kWanted, std::memory_order_acquire) != kFree) {
      state_.wait(kWanted, std::memory_order_relaxed);
    }
  }

  std::atomic<std::uint32_t> state_{kFree};
};

}  // namespace tessera
