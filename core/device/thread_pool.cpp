#include <tessera/core/device/thread_pool.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <sched.h>
#include <unistd.h>

#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/base/settings.h>
#include <tessera/core/device/affinity.h>
#include <tessera/core/device/job.h>

namespace tessera {
namespace {

const Setting<int> threads_setting{"TESSERA_THREADS", 0,
                                   "Threads that kernels use; 0: the cores of the affinity mask"};

// True in the pool's threads, and in a caller while it runs tasks: calls from there run inline.
thread_local bool inside_task = false;

class InsideTask {
 public:
  InsideTask() { inside_task = true; }
  ~InsideTask() { inside_task = false; }
  InsideTask(const InsideTask&) = delete;
  InsideTask& operator=(const InsideTask&) = delete;
};

void pause_core() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Waits for `ready`: spins some microseconds (a sleep costs 14), lets others have the core for some
// hundred, then calls `sleep` until ready.
template <class Ready, class Sleep>
void wait_for(Ready ready, Sleep sleep) {
  constexpr int kSpins = 200;
  constexpr int kYields = 400;
  for (int i = 0; i < kSpins; ++i) {
    if (ready()) {
      return;
    }
    pause_core();
  }
  for (int i = 0; i < kYields; ++i) {
    if (ready()) {
      return;
    }
    sched_yield();
  }
  while (!ready()) {
    sleep();
  }
}

class ThreadPool {
 public:
  static ThreadPool& instance();

  [[nodiscard]] int threads() const { return threads_.load(std::memory_order_relaxed); }
  void resize(int n);
  bool pin(int first_core);
  void unpin();
  void run(std::int64_t tasks, detail::RangeFunction function, void* closure);
  void stop_at_exit();

 private:
  ThreadPool();
  void start_workers();
  void stop_workers();
  void work(int index);
  void start_job(std::int64_t tasks, detail::RangeFunction function, void* closure);
  void close_gate();
  void wake(std::int64_t wanted);

  // The gate counts the workers inside the job; late ones find it closed, so that the caller never
  // waits for a thread that still sleeps.
  static constexpr std::uint32_t kOpen = 1U << 31;

  std::mutex owner_;  // held by the one caller that uses the workers
  std::atomic<int> threads_ = 1;
  std::vector<std::thread> workers_;
  pid_t process_ = getpid();
  int first_core_ = -1;
  std::atomic<bool> stop_ = false;
  detail::Job job_;
  alignas(64) std::atomic<std::uint32_t> epoch_ = 0;
  alignas(64) std::atomic<std::uint32_t> gate_ = 0;
};

struct StopAtExit {
  ~StopAtExit() { ThreadPool::instance().stop_at_exit(); }
};

ThreadPool& ThreadPool::instance() {
  static auto* const pool = new ThreadPool;  // never destroyed: other statics may still call it
  static const StopAtExit stop;
  return *pool;
}

ThreadPool::ThreadPool() {
  const int asked = threads_asked();
  threads_ = asked > 0 ? asked : static_cast<int>(process_cores().size());
}

void ThreadPool::start_workers() {
  stop_ = false;
  job_.shares = std::vector<detail::Share>(static_cast<std::size_t>(threads()));
  for (int index = 1; index < threads(); ++index) {
    workers_.emplace_back([this, index] { work(index); });
  }
}

void ThreadPool::stop_workers() {
  stop_ = true;
  epoch_.fetch_add(1, std::memory_order_release);
  epoch_.notify_all();
  for (std::thread& worker : workers_) {
    worker.join();
  }
  workers_.clear();
}

void ThreadPool::resize(int n) {
  const std::lock_guard lock(owner_);
  if (n == threads()) {
    return;
  }
  stop_workers();
  threads_ = n;
  if (first_core_ + n > static_cast<int>(process_cores().size())) {
    first_core_ = -1;
  }
}

bool ThreadPool::pin(int first_core) {
  const std::lock_guard lock(owner_);
  if (first_core + threads() > static_cast<int>(process_cores().size())) {
    return false;
  }
  stop_workers();  // they pin themselves when they start again
  first_core_ = first_core;
  return pin_this_thread(first_core);
}

void ThreadPool::unpin() {
  const std::lock_guard lock(owner_);
  stop_workers();
  first_core_ = -1;
  unpin_this_thread();
}

void ThreadPool::stop_at_exit() {
  if (process_ == getpid()) {  // a forked child has no workers to join
    const std::lock_guard lock(owner_);
    stop_workers();
    threads_ = 1;
  }
}

void ThreadPool::work(int index) {
  inside_task = true;
  if (first_core_ >= 0) {
    pin_this_thread(first_core_ + index);
  } else {
    unpin_this_thread();
  }
  std::uint32_t seen = 0;
  for (;;) {
    wait_for([&] { return epoch_.load(std::memory_order_acquire) != seen; },
             [&] { epoch_.wait(seen, std::memory_order_acquire); });
    seen = epoch_.load(std::memory_order_acquire);
    if ((gate_.fetch_add(1, std::memory_order_acquire) & kOpen) != 0) {
      const ContextScope scope(job_.context);
      job_.run(static_cast<std::size_t>(index));
    } else if (stop_) {
      gate_.fetch_sub(1, std::memory_order_release);
      return;
    }
    if (gate_.fetch_sub(1, std::memory_order_release) == 1) {
      gate_.notify_one();
    }
  }
}

void ThreadPool::start_job(std::int64_t tasks, detail::RangeFunction function, void* closure) {
  job_.deal_out(tasks);
  job_.function = function;
  job_.closure = closure;
  job_.context = Context::current_shared();
  gate_.fetch_or(kOpen, std::memory_order_release);
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  wake(tasks - 1);
}

void ThreadPool::wake(std::int64_t wanted) {
  if (wanted >= static_cast<std::int64_t>(workers_.size())) {
    epoch_.notify_all();
    return;
  }
  for (std::int64_t i = 0; i < wanted; ++i) {
    epoch_.notify_one();
  }
}

void ThreadPool::close_gate() {
  std::uint32_t inside = gate_.fetch_and(~kOpen, std::memory_order_acq_rel) & ~kOpen;
  wait_for([&] { return (inside = gate_.load(std::memory_order_acquire)) == 0; },
           [&] { gate_.wait(inside, std::memory_order_acquire); });
}

void ThreadPool::run(std::int64_t tasks, detail::RangeFunction function, void* closure) {
  const std::unique_lock lock(owner_, std::try_to_lock);
  const InsideTask inside;
  if (!lock.owns_lock()) {
    function(closure, 0, tasks);
    return;
  }
  if (workers_.empty()) {
    start_workers();
  }
  start_job(tasks, function, closure);
  job_.run(0);
  close_gate();
  job_.context.reset();
  if (job_.failed.exchange(false, std::memory_order_relaxed)) {
    std::rethrow_exception(std::exchange(job_.error, nullptr));
  }
}

}  // namespace

namespace detail {

void parallel_ranges(std::int64_t tasks, RangeFunction function, void* closure) {
  if (tasks <= 0) {
    return;
  }
  if (tasks == 1 || inside_task || ThreadPool::instance().threads() == 1) {
    function(closure, 0, tasks);
    return;
  }
  ThreadPool::instance().run(tasks, function, closure);
}

}  // namespace detail

int threads_asked() {
  const int asked = threads_setting.get();
  check(asked >= 0 && asked <= kMostThreads, "TESSERA_THREADS: out of range; got ", asked,
        ", expected 0 to ", kMostThreads);
  return asked;
}

int num_threads() {
  return ThreadPool::instance().threads();
}

void set_num_threads(int n) {
  check(n >= 1 && n <= kMostThreads, "set_num_threads: out of range; got ", n, ", expected 1 to ",
        kMostThreads);
  check(!inside_task, "set_num_threads: called from inside a task of parallel_for");
  ThreadPool::instance().resize(n);
}

bool pin_threads(int first_core) {
  check(first_core >= 0, "pin_threads: no such core; got ", first_core, ", expected at least 0");
  check(!inside_task, "pin_threads: called from inside a task of parallel_for");
  return ThreadPool::instance().pin(first_core);
}

void unpin_threads() {
  ThreadPool::instance().unpin();
}

}  // namespace tessera
