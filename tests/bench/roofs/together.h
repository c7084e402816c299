// Threads that start a piece of work at the same time, one on each core that the process may use.
#pragma once

#include <sched.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

namespace bench {

using Clock = std::chrono::steady_clock;

/// The cores of the calling thread's affinity mask.
inline std::vector<int> allowed_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  sched_getaffinity(0, sizeof mask, &mask);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &mask)) {
      cores.push_back(core);
    }
  }
  return cores;
}

inline void pin_to(int core) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(core, &mask);
  sched_setaffinity(0, sizeof mask, &mask);
}

/// Calls `prepare(thread)` and then, on all threads at once, `work(thread)`; thread i is pinned to
/// the i-th allowed core. Returns the seconds from the first start of `work` to its last end.
inline double seconds_together(int threads, const std::function<void(int)>& prepare,
                               const std::function<void(int)>& work) {
  struct Span {
    Clock::time_point start, end;
  };
  std::vector<Span> spans(static_cast<std::size_t>(threads));
  const std::vector<int> cores = allowed_cores();
  std::barrier ready(threads);
  std::vector<std::jthread> running;
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      const auto index = static_cast<std::size_t>(thread);
      pin_to(cores[index % cores.size()]);
      prepare(thread);
      ready.arrive_and_wait();
      spans[index].start = Clock::now();
      work(thread);
      spans[index].end = Clock::now();
    });
  }
  running.clear();
  const auto start = std::ranges::min(spans, {}, &Span::start).start;
  const auto end = std::ranges::max(spans, {}, &Span::end).end;
  return std::chrono::duration<double>(end - start).count();
}

}  // namespace bench
