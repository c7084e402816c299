// How a thread waits for another rank: spinning first, then giving up its core, then asleep.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tessera::dist {

class Backoff {
 public:
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
    if (rounds_ <= kSpins) {
      relax();
    } else if (rounds_ <= kSpins + kYields) {
      std::this_thread::yield();
    } else {
      nap();
    }
  }

 private:
  // With fewer cores than ranks the peer may need this very core, so spinning is short.
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

  int rounds_ = 0;
  std::chrono::microseconds asleep_{};
};

}  // namespace tessera::dist
