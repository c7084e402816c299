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
  void reset() noexcept { rounds_ = 0; }

  void pause() {
    ++rounds_;
    if (rounds_ <= kSpins) {
      relax();
    } else if (rounds_ <= kSpins + kYields) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kNap);
    }
  }

 private:
  // With fewer cores than ranks the peer may need this very core, so spinning is short.
  static constexpr int kSpins = 60;
  static constexpr int kYields = 4000;
  static constexpr std::chrono::microseconds kNap{30};

  static void relax() noexcept {
#if defined(__x86_64__)
    _mm_pause();
#endif
  }
  int rounds_ = 0;
};

}  // namespace tessera::dist
