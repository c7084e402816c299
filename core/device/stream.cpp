#include <tessera/core/device/stream.h>

#include <atomic>
#include <exception>
#include <utility>

#include <tessera/core/base/log.h>
#include <tessera/core/base/trace.h>

namespace tessera {

// Note [What a failure does to a stream]. What comes behind failed work was made for its results,
// so a stream runs nothing more after the first error: later events are done at once and carry it,
// and whoever waits for one gets it thrown. A stream that ends with an error that nobody saw logs
// it. Work is destroyed before its event is done: who waited may count on the memory that it kept.

struct Stream::Failure {
  std::exception_ptr cause;
  std::atomic<bool> seen = false;
};

struct Event::State {
  std::mutex mutex;
  std::condition_variable wake;
  bool done = false;
  std::shared_ptr<Stream::Failure> failure;

  void finish(std::shared_ptr<Stream::Failure> cause) {
    const std::lock_guard lock(mutex);
    done = true;
    failure = std::move(cause);
    wake.notify_all();
  }
  std::shared_ptr<Stream::Failure> wait() {
    std::unique_lock lock(mutex);
    wake.wait(lock, [&] { return done; });
    return failure;
  }
};

namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

std::string text_of(const std::exception_ptr& cause) {
  try {
    std::rethrow_exception(cause);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an unknown exception";
  }
}

}  // namespace

bool Event::done() const {
  if (state_ == nullptr) {
    return true;
  }
  const std::lock_guard lock(state_->mutex);
  return state_->done;
}

void Event::wait() const {
  if (state_ == nullptr) {
    return;
  }
  if (const std::shared_ptr<Stream::Failure> failure = state_->wait(); failure != nullptr) {
    failure->seen = true;
    std::rethrow_exception(failure->cause);
  }
}

void Event::wait_until_done() const noexcept {
  if (state_ != nullptr) {
    static_cast<void>(state_->wait());
  }
}

Stream::Stream(bool inline_stream) : inline_(inline_stream), id_(next_id()) {}

std::shared_ptr<Stream> Stream::make_worker(std::string name) {
  std::shared_ptr<Stream> stream(new Stream(false));
  stream->name_ = std::move(name);
  stream->context_ = Context::current_shared();
  stream->worker_ = std::thread([raw = stream.get()] { raw->work_loop(); });
  return stream;
}

Stream& Stream::current() {
  static Stream inline_stream(true);  // shared by all threads: it has no state of its own
  return detail::worker_stream != nullptr ? *detail::worker_stream : inline_stream;
}

Stream::~Stream() {
  if (!worker_.joinable()) {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_one();
  worker_.join();
  if (failure_ != nullptr && !failure_->seen) {
    log_error("stream ", name_, ": failed, and nobody waited for it; ", text_of(failure_->cause));
  }
}

void Stream::work_loop() {
  const ContextScope context(context_);
  name_this_thread(name_);
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return closing_ || !queue_.empty(); });
    if (queue_.empty()) {
      return;
    }
    Item item = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    run(std::move(item));
    lock.lock();
  }
}

void Stream::run(Item item) {
  if (failure_ == nullptr && item.work) {
    try {
      item.work();
    } catch (...) {
      failure_ = std::make_shared<Failure>();
      failure_->cause = std::current_exception();
    }
  }
  item.work = nullptr;  // gives back what it kept alive before anybody is told
  item.event->finish(failure_);
}

Event Stream::launch(std::function<void()> work) {
  Event event;
  if (inline_) {
    if (work) {
      work();
    }
    return event;
  }
  event.state_ = std::make_shared<Event::State>();
  const std::lock_guard lock(mutex_);
  queue_.push_back({std::move(work), event.state_});
  wake_.notify_one();
  return event;
}

void Stream::wait_for(const Event& event) {
  if (event.state_ != nullptr) {
    launch([event] { event.wait(); });
  }
}

void Stream::wait_until_done(const Event& event) {
  if (!event.done()) {
    launch([event] { event.wait_until_done(); });
  }
}

Event Stream::record() {
  return launch(nullptr);
}

StreamScope::StreamScope(Stream& stream)
    : previous_(std::exchange(detail::worker_stream, stream.is_inline() ? nullptr : &stream)) {}

StreamScope::~StreamScope() {
  detail::worker_stream = previous_;
}

}  // namespace tessera
