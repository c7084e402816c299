#include <tessera/dist/comm/watchdog.h>

#include <algorithm>
#include <utility>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/decorator.h>
#include <tessera/dist/comm/watch.h>

namespace tessera::dist {
namespace {

class WatchedCommunicator final : public CommDecorator {
 public:
  WatchedCommunicator(std::shared_ptr<Communicator> inner, std::shared_ptr<WatchThread> thread)
      : CommDecorator(inner),
        thread_(std::move(thread)),
        watch_(std::make_shared<Watch>(std::move(inner), thread_->deadline())) {
    thread_->add(watch_);
  }
  ~WatchedCommunicator() override { thread_->remove(watch_); }
  WatchedCommunicator(const WatchedCommunicator&) = delete;
  WatchedCommunicator& operator=(const WatchedCommunicator&) = delete;

  Work launch(Collective c) override {
    Watch::Entry entry = watch_->announce(c);
    entry.work = inner().launch(std::move(c));
    const Work work = entry.work;
    watch_->watch(std::move(entry));
    return work;
  }

 protected:
  std::shared_ptr<Communicator> wrap(std::shared_ptr<Communicator> part) override {
    return std::make_shared<WatchedCommunicator>(std::move(part), thread_);
  }

 private:
  std::shared_ptr<WatchThread> thread_;
  std::shared_ptr<Watch> watch_;
};

}  // namespace

std::shared_ptr<Communicator> with_watchdog(std::shared_ptr<Communicator> inner,
                                            WatchdogOptions options) {
  if (inner->board() == nullptr || options.deadline.count() <= 0) {
    return inner;
  }
  return std::make_shared<WatchedCommunicator>(std::move(inner),
                                               std::make_shared<WatchThread>(options.deadline));
}

}  // namespace tessera::dist
