#include <tessera/core/tensor/peak.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include <tessera/core/base/clock.h>
#include <tessera/core/device/affinity.h>

namespace tessera {
namespace {

constinit detail::FlopLoop flop_loop = nullptr;

constexpr std::int64_t kRounds = 100'000;  // about a millisecond
constexpr int kFirstTries = 24;            // some wake the cores up

double rate_of(DType compute) {
  const Time begin = clock().now();
  const double flops = flop_loop(compute, kRounds);
  const std::chrono::duration<double> seconds = clock().now() - begin;
  return seconds.count() > 0 ? flops / seconds.count() : 0;
}

/// The best sum of the threads' rates of the tries, all threads at work at once.
double measure(DType compute, int threads, int tries) {
  std::vector<double> rates(static_cast<std::size_t>(threads));
  std::barrier together(threads);
  double best = 0;
  const auto work = [&](std::size_t index) {
    for (int i = 0; i < tries; ++i) {
      together.arrive_and_wait();
      rates[index] = rate_of(compute);
      together.arrive_and_wait();
      if (index == 0) {
        double sum = 0;
        for (const double rate : rates) {
          sum += rate;
        }
        best = std::max(best, sum);
      }
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < rates.size(); ++i) {
    others.emplace_back([&work, i] {
      unpin_this_thread();
      work(i);
    });
  }
  work(0);
  return best;
}

}  // namespace

bool detail::set_flop_loop(FlopLoop loop) noexcept {
  flop_loop = loop;
  return true;
}

double peak_flops(DType compute, int threads) {
  if (flop_loop == nullptr || threads < 1 || flop_loop(compute, 1) == 0) {
    return 0;
  }
  static std::mutex mutex;  // ranks that are threads measure one after another
  static std::map<std::pair<DType, int>, double> known;
  const std::lock_guard lock(mutex);
  const auto [at, fresh] = known.try_emplace({compute, threads});
  at->second = std::max(at->second, measure(compute, threads, fresh ? kFirstTries : 1));
  return at->second;
}

}  // namespace tessera
