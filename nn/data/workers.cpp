#include <tessera/nn/data/workers.h>

#include <memory>
#include <utility>

#include <tessera/core/base/context.h>
#include <tessera/core/base/file.h>
#include <tessera/core/base/trace.h>
#include <tessera/core/device/affinity.h>

namespace tessera::data {
namespace {

/// A copy, since the rank goes on to change its own. Nothing here is part of a pass.
std::shared_ptr<Context> context_for_worker() {
  auto context = std::make_shared<Context>(Context::current());
  context->pass = {};
  context->loop = nullptr;
  context->pass_mark = nullptr;  // or the pass in which the workers began would never end
  context->source = nullptr;
  return context;
}

}  // namespace

Workers::~Workers() {
  clear();
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void Workers::start(std::function<void()> task) {
  start_threads();
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
}

void Workers::clear() {
  const std::lock_guard lock(mutex_);
  tasks_.clear();
}

void Workers::start_threads() {
  while (static_cast<int>(threads_.size()) < count_) {
    threads_.emplace_back([this, context = context_for_worker(), files = &file_system()] {
      const ContextScope context_scope(context);
      const FileSystemScope file_scope(*files);
      static_cast<void>(unpin_this_thread());
      name_this_thread("data");
      run();
    });
  }
}

void Workers::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stop_ || !tasks_.empty(); });
    if (stop_) {
      return;
    }
    const std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    {
      const TraceRange range("load", "data");
      task();
    }
    lock.lock();
  }
}

}  // namespace tessera::data
