#include <tessera/dist/comm/watchdog.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/decorator.h>
#include <tessera/dist/comm/watch_thread.h>

namespace tessera::dist {
namespace {

/// Done when told so: a call that blocks, such as a split.
class Call final : public WorkState {
 public:
  bool wait_until(Time) override { return done(); }
  [[nodiscard]] bool done() const override { return done_.load(std::memory_order_acquire); }
  [[nodiscard]] std::exception_ptr error() const override { return nullptr; }
  [[nodiscard]] std::chrono::nanoseconds duration() const override { return {}; }
  void end() { done_.store(true, std::memory_order_release); }

 private:
  std::atomic<bool> done_{false};
};

class WatchedCommunicator final : public CommDecorator {
 public:
  WatchedCommunicator(std::shared_ptr<Communicator> inner, std::shared_ptr<WatchThread> thread,
                      const std::weak_ptr<HeartbeatTable>& world)
      : CommDecorator(inner),
        thread_(std::move(thread)),
        world_(world),
        watch_(std::make_shared<Watch>(std::move(inner), thread_->deadline(), world)) {
    thread_->add(watch_);
  }
  ~WatchedCommunicator() override {
    watch_->leave(clock().now());
    thread_->remove(watch_, heartbeat_table());
  }
  WatchedCommunicator(const WatchedCommunicator&) = delete;
  WatchedCommunicator& operator=(const WatchedCommunicator&) = delete;

  Work start(Collective&& c) override {
    Watch::Entry entry = watch_->announce(c);
    Work work;
    try {
      work = inner().start(std::move(c));
    } catch (...) {
      watch_->withdraw(entry);
      throw;
    }
    if (!work.done()) {
      entry.work = work;
      watch_->watch(std::move(entry));
    }
    return work;
  }
  CommBuffer allocate(std::size_t nbytes) override {
    const WatchedCall call(*watch_, "allocate");
    return inner().allocate(nbytes);
  }
  std::shared_ptr<Communicator> split(int color, int key, std::string name) override {
    std::shared_ptr<Communicator> part;
    {
      const WatchedCall call(*watch_, "split " + name);
      part = inner().split(color, key, std::move(name));
    }
    return wrap(std::move(part));
  }

 protected:
  std::shared_ptr<Communicator> wrap(std::shared_ptr<Communicator> part) override {
    return std::make_shared<WatchedCommunicator>(std::move(part), thread_, world_);
  }

 private:
  /// Watches a call until the scope ends; by an exception, it was none.
  class WatchedCall {
   public:
    WatchedCall(Watch& watch, const std::string& label)
        : watch_(watch), call_(std::make_shared<Call>()) {
      Watch::Entry entry = watch.announce(label);
      announced_.number = entry.number;
      entry.work = Work(call_);
      watch.watch(std::move(entry));
    }
    ~WatchedCall() {
      call_->end();
      if (std::uncaught_exceptions() > exceptions_) {
        watch_.withdraw(announced_);
      }
    }
    WatchedCall(const WatchedCall&) = delete;
    WatchedCall& operator=(const WatchedCall&) = delete;

   private:
    Watch& watch_;
    std::shared_ptr<Call> call_;
    Watch::Entry announced_;
    int exceptions_ = std::uncaught_exceptions();
  };

  std::shared_ptr<WatchThread> thread_;
  std::weak_ptr<HeartbeatTable> world_;  ///< see Watch
  std::shared_ptr<Watch> watch_;
};

}  // namespace

std::shared_ptr<Communicator> with_watchdog(std::shared_ptr<Communicator> inner,
                                            WatchdogOptions options) {
  const auto table = inner->heartbeat_table();
  check<Unsupported>(
      table != nullptr, "watchdog: the backend of group '", inner->name(),
      "' keeps no heartbeats; expected one that does, or with_control_channel over a "
      "group of the same ranks that does");
  const auto deadline = options.deadline.count() > 0 ? options.deadline : Watch::kForEver;
  return std::make_shared<WatchedCommunicator>(std::move(inner),
                                               std::make_shared<WatchThread>(deadline), table);
}

}  // namespace tessera::dist
