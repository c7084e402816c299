#include <tessera/dist/comm/watch_thread.h>

#include <algorithm>
#include <utility>

namespace tessera::dist {
namespace {

constexpr std::chrono::milliseconds kLongestInterval{200};

}  // namespace

WatchThread::WatchThread(std::chrono::milliseconds deadline)
    : deadline_(deadline), thread_([this, context = Context::current_shared()] {
        const ContextScope scope(context);
        run();
      }) {}

WatchThread::~WatchThread() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void WatchThread::add(std::shared_ptr<Watch> watch) {
  const std::lock_guard lock(mutex_);
  watches_.push_back(std::move(watch));
}

void WatchThread::remove(const std::shared_ptr<Watch>& watch,
                         std::shared_ptr<HeartbeatTable> table) {
  const std::lock_guard lock(mutex_);
  std::erase(watches_, watch);
  if (table->carries()) {
    carried_.push_back(std::move(table));
  }
}

/// What other hosts hear of this one's ranks, that they left as well, passes through here.
void WatchThread::carry() {
  for (const auto& table : carried_) {
    table->own().beats.fetch_add(1, std::memory_order_relaxed);
    table->exchange();
  }
  std::erase_if(carried_, [](const auto& table) { return !table->carries(); });
}

void WatchThread::look(Time now) {
  for (const auto& watch : watches_) {
    Duration longest{};
    for (const auto& other : watches_) {
      longest = other == watch ? longest : std::max(longest, other->waited(now));
    }
    watch->announce_wait_elsewhere(longest);
  }
  for (const auto& watch : watches_) {
    watch->look(now);
  }
  carry();
}

void WatchThread::run() {
  const Duration interval = std::min<Duration>(kLongestInterval, deadline_ / 10);
  std::unique_lock lock(mutex_);
  while (!stop_) {
    look(clock().now());
    clock().wait_until(wake_, lock, clock().now() + interval);
  }
}

}  // namespace tessera::dist
