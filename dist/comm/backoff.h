// How a thread waits for another rank: spinning first, then giving up its core, then asleep.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tessera::dist {

class Backoff {
 public:
  /// So many ranks of this host wait for each other. Where they outnumber the cores, who spins
  /// keeps another from arriving, so that from now on nobody in this process does.
  static void expect_ranks(int ranks) noexcept {
    if (ranks > static_cast<int>(std::thread::hardware_concurrency())) {
      crowded_.store(true, std::memory_order_relaxed);
    }
  }
  [[nodiscard]] static bool spins() noexcept { return !crowded_.load(std::memory_order_relaxed); }

  void reset() noexcept {
    rounds_ = 0;
    asleep_ = {};
  }

  /// Tells the core that it spins.
  static void relax() noexcept {
#if defined(__x86_64__)
    _mm_pause();
#endif
  }

  void pause() {
    ++rounds_;
    if (rounds_ <= kSpins && spins()) {
      relax();
    } else if (rounds_ <= kSpins + kYields) {
      std::this_thread::yield();
    } else {
      nap();
    }
  }

 private:
  static constexpr int kSpins = 60;
  static constexpr int kYields = 4000;
  static constexpr std::chrono::microseconds kShortestNap{30};
  static constexpr std::chrono::microseconds kLongestNap{1000};

  /// A sixteenth of the sleep so far: a long wait costs no core, a short one little time.
  void nap() {
    const auto nap = std::clamp(asleep_ / 16, kShortestNap, kLongestNap);
    std::this_thread::sleep_for(nap);
    asleep_ += nap;
  }

  static inline std::atomic<bool> crowded_{false};
  int rounds_ = 0;
  std::chrono::microseconds asleep_{};
};

}  // namespace tessera::dist
