#include <tessera/core/device/stream.h>

#include <tessera/core/base/trace.h>
#include <tessera/core/tensor/storage.h>

namespace tessera {

struct Event::State {
  std::mutex mutex;
  std::condition_variable wake;
  bool done = false;
  std::exception_ptr error;

  void finish(std::exception_ptr cause) {
    const std::lock_guard lock(mutex);
    done = true;
    error = std::move(cause);
    wake.notify_all();
  }
};

namespace {

thread_local Stream* current_stream = nullptr;

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
  std::unique_lock lock(state_->mutex);
  state_->wake.wait(lock, [&] { return state_->done; });
  if (state_->error != nullptr) {
    std::rethrow_exception(state_->error);
  }
}

std::shared_ptr<Stream> Stream::make_worker(std::string name) {
  std::shared_ptr<Stream> stream(new Stream(false));
  stream->name_ = std::move(name);
  stream->context_ = Context::current_shared();
  stream->worker_ = std::thread([raw = stream.get()] { raw->work_loop(); });
  return stream;
}

Stream& Stream::current() {
  static Stream inline_stream(true);  // shared by all threads: it has no state of its own
  return current_stream != nullptr ? *current_stream : inline_stream;
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
    const std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

void Stream::launch(std::function<void()> work) {
  if (inline_) {
    work();
    return;
  }
  const std::lock_guard lock(mutex_);
  queue_.emplace_back([this, work = std::move(work)] {
    if (error_ != nullptr) {
      return;
    }
    try {
      work();
    } catch (...) {
      error_ = std::current_exception();  // read by this worker alone
    }
  });
  wake_.notify_one();
}

void Stream::wait_for(const Event& event) {
  if (event.done()) {
    return;
  }
  launch([event] { event.wait(); });
}

Event Stream::record() {
  Event event;
  if (inline_) {
    return event;
  }
  event.state_ = std::make_shared<Event::State>();
  const std::lock_guard lock(mutex_);
  queue_.emplace_back([this, state = event.state_] { state->finish(error_); });
  wake_.notify_one();
  return event;
}

StreamScope::StreamScope(Stream& stream) : previous_(std::exchange(current_stream, &stream)) {}

StreamScope::~StreamScope() {
  current_stream = previous_;
}

// Note [Hazards]. A read waits for the last write; a write waits for the last write and for every
// read since; freeing counts as a write. Work on one stream is in order already, so only other
// streams' events are waited for. The inline stream blocks the host instead.
void before_read(Stream& stream, Storage& storage) {
  StorageSync* sync = storage.sync();
  if (sync == nullptr || sync->writer == &stream) {
    return;
  }
  stream.wait_for(sync->last_write);
}

void before_write(Stream& stream, Storage& storage) {
  StorageSync* sync = storage.sync();
  if (sync == nullptr) {
    return;
  }
  before_read(stream, storage);
  for (const StorageSync::Read& read : sync->reads) {
    if (read.stream != &stream) {
      stream.wait_for(read.event);
    }
  }
}

void after_read(Stream& stream, Storage& storage, const Event& event) {
  if (stream.is_inline()) {
    return;
  }
  std::vector<StorageSync::Read>& reads = storage.ensure_sync().reads;
  for (StorageSync::Read& read : reads) {
    if (read.stream == &stream) {
      read.event = event;
      return;
    }
  }
  reads.push_back({&stream, event});
}

void after_write(Stream& stream, Storage& storage, const Event& event) {
  if (stream.is_inline() && storage.sync() == nullptr) {
    return;
  }
  StorageSync& sync = storage.ensure_sync();
  sync.last_write = event;
  sync.writer = &stream;
  sync.reads.clear();
}

void wait_until_readable(Storage& storage) {
  if (StorageSync* sync = storage.sync(); sync != nullptr) {
    sync->last_write.wait();
  }
}

void wait_until_unused(Storage& storage) {
  StorageSync* sync = storage.sync();
  if (sync == nullptr) {
    return;
  }
  wait_until_readable(storage);
  for (const StorageSync::Read& read : sync->reads) {
    read.event.wait();
  }
}

}  // namespace tessera
