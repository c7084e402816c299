#include <tessera/nn/data/background.h>

#include <utility>

#include <tessera/core/base/context.h>
#include <tessera/core/base/trace.h>
#include <tessera/core/device/affinity.h>

namespace tessera::data {

Background::~Background() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
}

void Background::start(std::function<void()> task) {
  if (!thread_.joinable()) {
    thread_ = std::thread([this, context = Context::current_shared()] {
      const ContextScope scope(context);
      static_cast<void>(unpin_this_thread());
      name_this_thread("data");
      run();
    });
  }
  {
    const std::lock_guard lock(mutex_);
    task_ = std::move(task);
  }
  changed_.notify_all();
}

void Background::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return task_ == nullptr; });
  if (error_ != nullptr) {
    std::rethrow_exception(std::exchange(error_, nullptr));
  }
}

void Background::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || task_ != nullptr; });
    if (task_ == nullptr) {
      return;
    }
    lock.unlock();
    std::exception_ptr error;
    try {
      const TraceRange range("load", "data");
      task_();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    error_ = error;
    task_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace tessera::data
