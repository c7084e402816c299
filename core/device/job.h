// One call of parallel_for, as the threads of the pool share it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include <tessera/core/base/context.h>
#include <tessera/core/device/thread_pool.h>

namespace tessera::detail {

/// Tasks that follow each other, meant for one thread, and taken by others who have done their own.
struct alignas(64) Share {
  std::atomic<std::int64_t> next = 0;
  std::int64_t end = 0;
};

/// The parallel_for under way. Its caller writes it while no worker looks. A thread gets the same
/// share of equal jobs, so that it finds in its core's caches what it wrote the last time.
struct Job {
  std::vector<Share> shares;  ///< one a thread
  std::int64_t chunk = 1;
  RangeFunction function = nullptr;
  void* closure = nullptr;
  std::shared_ptr<Context> context;
  std::exception_ptr error;
  std::atomic<bool> failed = false;

  void deal_out(std::int64_t tasks) noexcept {
    const auto threads = std::ssize(shares);
    chunk = std::max<std::int64_t>(1, tasks / (16 * threads));
    for (std::int64_t i = 0; i < threads; ++i) {
      shares[i].end = tasks * (i + 1) / threads;
      shares[i].next.store(tasks * i / threads, std::memory_order_relaxed);
    }
  }

  /// Carries out the share of thread `index`, then what the others have not begun.
  void run(std::size_t index) noexcept {
    for (std::size_t i = 0; i < shares.size(); ++i) {
      run_share(shares[(index + i) % shares.size()]);
    }
  }

 private:
  void run_share(Share& share) noexcept {
    for (;;) {
      const std::int64_t begin = share.next.fetch_add(chunk, std::memory_order_relaxed);
      if (begin >= share.end) {
        return;
      }
      try {
        function(closure, begin, std::min(begin + chunk, share.end));
      } catch (...) {
        fail_with(std::current_exception());
      }
    }
  }

  void fail_with(std::exception_ptr cause) noexcept {
    if (!failed.exchange(true, std::memory_order_acq_rel)) {
      error = std::move(cause);
    }
    for (Share& share : shares) {
      share.next.store(share.end, std::memory_order_relaxed);
    }
  }
};

}  // namespace tessera::detail
