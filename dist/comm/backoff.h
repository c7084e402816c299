// How a thread waits for another rank: spinning first, then giving up its core, then asleep.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

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

  void reset() noexcept { *this = {}; }

  /// Tells the core that it spins.
  static void relax() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  void pause() {
    if (++rounds_ <= kSpins && spins()) {
      return relax();
    }
    const Clock::time_point now = Clock::now();
    if (since_ == Clock::time_point{}) {
      since_ = now;
    }
    const auto waited = std::chrono::duration_cast<std::chrono::microseconds>(now - since_);
    if (waited < kYields) {
      std::this_thread::yield();
    } else {  // a long wait costs no core, a short one little time
      std::this_thread::sleep_for(
          std::max(std::min(waited / 16, kShortNap), std::min(waited / 64, kLongestNap)));
    }
  }

 private:
  using Clock = std::chrono::steady_clock;  // not the seam: what it spares is this machine's cores
  static constexpr int kSpins = 60;
  static constexpr std::chrono::microseconds kYields{1000};
  static constexpr std::chrono::microseconds kShortNap{1000};
  static constexpr std::chrono::microseconds kLongestNap{20000};

  static inline std::atomic<bool> crowded_{false};
  int rounds_ = 0;
  Clock::time_point since_{};  ///< the end of spinning
};

}  // namespace tessera::dist
