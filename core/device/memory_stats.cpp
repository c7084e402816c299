#include <tessera/core/device/memory_stats.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iomanip>
#include <mutex>
#include <sstream>
#include <vector>

#include <tessera/core/base/settings_check.h>

namespace tessera {
namespace {

constexpr std::array<std::string_view, kMemoryCategoryCount> kCategoryNames{
    "parameter", "gradient",      "activation", "optimizer",
    "workspace", "communication", "data",       "other"};

// A thread passes its counts on when they have drifted this far, so that small blocks cost no
// shared cache line.
constexpr std::int64_t kMaxDrift = 64 << 10;

enum class State : std::uint8_t { fresh, open, closed };

struct ThreadCounts {
  std::array<std::atomic<std::int64_t>, kMemoryCategoryCount> pending{};  // written by its thread
  std::int64_t drift = 0;                                                 // their sum
  State state = State::fresh;
};

[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadCounts thread_counts;
[[gnu::tls_model("initial-exec")]] constinit thread_local MemoryCategory thread_category =
    MemoryCategory::other;

class Totals {
 public:
  void add(std::size_t category, std::int64_t nbytes) {
    by_category_[category].fetch_add(nbytes, std::memory_order_relaxed);
  }
  void add_total(std::int64_t nbytes) {
    raise_peak(total_.fetch_add(nbytes, std::memory_order_relaxed) + nbytes);
  }
  void add_reserved(std::int64_t nbytes) { reserved_.fetch_add(nbytes, std::memory_order_relaxed); }
  void enter(ThreadCounts* counts);
  void leave(ThreadCounts* counts);
  MemoryStats read();
  void reset_peak();

 private:
  void raise_peak(std::int64_t total);

  std::array<std::atomic<std::int64_t>, kMemoryCategoryCount> by_category_{};
  std::atomic<std::int64_t> total_ = 0;
  std::atomic<std::int64_t> peak_ = 0;
  std::atomic<std::int64_t> reserved_ = 0;
  std::mutex mutex_;
  std::vector<ThreadCounts*> threads_;
};

Totals& totals() {
  static auto* const instance = new Totals;  // never destroyed: tensors may be static objects
  return *instance;
}

void pass_on(ThreadCounts& counts) {
  Totals& all = totals();
  for (std::size_t i = 0; i < kMemoryCategoryCount; ++i) {
    const std::int64_t nbytes = counts.pending[i].load(std::memory_order_relaxed);
    if (nbytes != 0) {
      counts.pending[i].store(0, std::memory_order_relaxed);
      all.add(i, nbytes);
    }
  }
  all.add_total(counts.drift);
  counts.drift = 0;
}

struct LeaveAtThreadExit {
  ~LeaveAtThreadExit() { totals().leave(&thread_counts); }
};

void Totals::enter(ThreadCounts* counts) {
  thread_local const LeaveAtThreadExit leave;
  counts->state = State::open;
  const std::lock_guard lock(mutex_);
  threads_.push_back(counts);
}

void Totals::leave(ThreadCounts* counts) {
  const std::lock_guard lock(mutex_);
  pass_on(*counts);
  counts->state = State::closed;
  std::erase(threads_, counts);
}

void Totals::raise_peak(std::int64_t total) {
  std::int64_t peak = peak_.load(std::memory_order_relaxed);
  while (peak < total && !peak_.compare_exchange_weak(peak, total, std::memory_order_relaxed)) {
  }
}

MemoryStats Totals::read() {
  const std::lock_guard lock(mutex_);
  MemoryStats stats;
  for (std::size_t i = 0; i < kMemoryCategoryCount; ++i) {
    std::int64_t sum = by_category_[i].load(std::memory_order_relaxed);
    for (const ThreadCounts* thread : threads_) {
      sum += thread->pending[i].load(std::memory_order_relaxed);
    }
    stats.by_category[i] = static_cast<std::size_t>(std::max<std::int64_t>(sum, 0));
    stats.current += stats.by_category[i];
  }
  raise_peak(static_cast<std::int64_t>(stats.current));
  stats.peak = static_cast<std::size_t>(peak_.load(std::memory_order_relaxed));
  stats.reserved = static_cast<std::size_t>(reserved_.load(std::memory_order_relaxed));
  return stats;
}

void Totals::reset_peak() {
  const auto current = static_cast<std::int64_t>(read().current);
  peak_.store(current, std::memory_order_relaxed);
}

}  // namespace

std::string_view to_string(MemoryCategory category) noexcept {
  return kCategoryNames[static_cast<std::size_t>(category)];
}

MemoryStats memory_stats() {
  return totals().read();
}

void reset_peak() {
  totals().reset_peak();
}

std::ostream& operator<<(std::ostream& out, const MemoryStats& stats) {
  const auto mib = [](std::size_t nbytes) { return static_cast<double>(nbytes) / (1 << 20); };
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << "memory: " << mib(stats.current)
       << " MiB in use, peak " << mib(stats.peak) << ", reserved " << mib(stats.reserved);
  for (std::size_t i = 0; i < kMemoryCategoryCount; ++i) {
    if (stats.by_category[i] != 0) {
      text << ", " << kCategoryNames[i] << ' ' << mib(stats.by_category[i]);
    }
  }
  return out << text.str();
}

MemoryCategory current_category() noexcept {
  return thread_category;
}

MemoryCategory category_of_results() noexcept {
  return thread_category == MemoryCategory::other ? MemoryCategory::activation : thread_category;
}

CategoryScope::CategoryScope(MemoryCategory category) noexcept : previous_(thread_category) {
  thread_category = category;
}

CategoryScope::~CategoryScope() {
  thread_category = previous_;
}

namespace {

/// Counts for a thread that does so for the first time, or ends: apart, so that `count_block`, of
/// which every tensor needs two calls, saves no registers for it. False where all is counted.
[[gnu::noinline, gnu::cold]] bool open_counts(MemoryCategory category, std::ptrdiff_t nbytes) {
  if (thread_counts.state == State::closed) {
    totals().add(static_cast<std::size_t>(category), nbytes);
    totals().add_total(nbytes);
    return false;
  }
  totals().enter(&thread_counts);
  say_idle_variables();  // no program computes without memory, few read a setting
  return true;
}

}  // namespace

void detail::count_block(MemoryCategory category, std::ptrdiff_t nbytes) {
  ThreadCounts& counts = thread_counts;
  if (counts.state != State::open && !open_counts(category, nbytes)) [[unlikely]] {
    return;
  }
  auto& pending = counts.pending[static_cast<std::size_t>(category)];
  pending.store(pending.load(std::memory_order_relaxed) + nbytes, std::memory_order_relaxed);
  counts.drift += nbytes;
  if (std::abs(counts.drift) >= kMaxDrift) {
    pass_on(counts);
  }
}

void detail::count_reserved(std::ptrdiff_t nbytes) noexcept {
  totals().add_reserved(nbytes);
}

void count_memory(MemoryCategory category, std::ptrdiff_t nbytes) {
  detail::count_reserved(nbytes);
  detail::count_block(category, nbytes);
}

}  // namespace tessera
