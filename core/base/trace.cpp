#include <tessera/core/base/trace.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <mutex>
#include <new>
#include <span>
#include <vector>

#include <tessera/core/base/clock.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/base/file.h>
#include <tessera/core/base/trace_event.h>

namespace tessera {
namespace detail {

constinit std::atomic<std::uint32_t> trace_session = 0;

void TraceEventDelete::operator()(TraceEvent* event) const noexcept {
  delete event;
}

namespace {

// Events of one thread. Its lock is contended only when a trace ends.
struct Buffer {
  std::mutex mutex;
  std::vector<TraceEvent> events;
  TraceThread thread;
};

struct Recorder {
  std::mutex mutex;
  std::vector<std::shared_ptr<Buffer>> buffers;  // those of ended threads until the trace ends
  std::string path;
  std::uint32_t sessions = 0;
  int threads = 0;
  std::atomic<std::uint64_t> next_id = 1;
};

Recorder& recorder() {
  static auto* const instance = new Recorder;  // never destroyed: threads may outlive statics
  return *instance;
}

std::shared_ptr<Buffer> new_buffer() {
  auto buffer = std::make_shared<Buffer>();
  const std::lock_guard lock(recorder().mutex);
  buffer->thread.number = recorder().threads++;
  recorder().buffers.push_back(buffer);
  return buffer;
}

Buffer& this_thread() {
  thread_local const std::shared_ptr<Buffer> buffer = new_buffer();
  return *buffer;
}

std::int64_t nanoseconds_now() {
  const auto since = clock().now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

TraceEvent new_event(TraceEvent::Kind kind, std::string_view name, const char* category) {
  TraceEvent event;
  event.kind = kind;
  event.session = trace_session.load(std::memory_order_relaxed);
  event.rank = Context::current().rank;
  event.thread = this_thread().thread.number;
  event.category = category;
  event.name = name;
  event.start_ns = nanoseconds_now();
  return event;
}

// Drops what began in a trace that has ended since; `stop_trace` empties buffers under their locks.
void keep(TraceEvent event) {
  Buffer& buffer = this_thread();
  const std::lock_guard lock(buffer.mutex);
  if (event.session != 0 && event.session == trace_session.load(std::memory_order_relaxed)) {
    buffer.events.push_back(std::move(event));
  }
}

void end_event(TraceEventPointer event) noexcept {
  event->duration_ns = nanoseconds_now() - event->start_ns;
  try {
    keep(std::move(*event));
  } catch (const std::bad_alloc&) {
    // a trace is not worth a failed run
  }
}

void save_whole(const std::string& path, const std::string& text) {
  const std::string part = path + ".part";
  write_file(part, std::as_bytes(std::span(text)));
  file_system().rename(part, path);
}

}  // namespace

TraceEventPointer begin_range(std::string_view name, const char* category) {
  return TraceEventPointer(new TraceEvent(new_event(TraceEvent::Kind::range, name, category)));
}

TraceEventPointer begin_async(std::string_view name, const char* category) {
  TraceEventPointer event(new TraceEvent(new_event(TraceEvent::Kind::async, name, category)));
  event->id = recorder().next_id.fetch_add(1, std::memory_order_relaxed);
  return event;
}

void end_range(TraceEventPointer event) noexcept {
  end_event(std::move(event));
}

void end_async(TraceEventPointer event) noexcept {
  end_event(std::move(event));
}

void add_argument(TraceEvent& event, const char* key, std::int64_t value) {
  event.arguments.emplace_back(key, value);
}

void add_instant(std::string_view name, const char* category) {
  keep(new_event(TraceEvent::Kind::instant, name, category));
}

void add_counter(std::string_view name, double value) {
  TraceEvent event = new_event(TraceEvent::Kind::counter, name, "");
  event.value = value;
  keep(std::move(event));
}

}  // namespace detail

using detail::recorder;

void start_trace(std::string path) {
  const std::lock_guard lock(recorder().mutex);
  check(!tracing(), "start_trace: a trace runs already; got ", path, ", it goes to ",
        recorder().path);
  recorder().path = std::move(path);
  detail::trace_session.store(++recorder().sessions, std::memory_order_relaxed);
}

void stop_trace() {
  const std::lock_guard lock(recorder().mutex);
  check(tracing(), "stop_trace: no trace runs");
  detail::trace_session.store(0, std::memory_order_relaxed);
  std::vector<detail::TraceEvent> events;
  std::vector<detail::TraceThread> threads;
  for (const auto& buffer : recorder().buffers) {
    const std::lock_guard buffer_lock(buffer->mutex);
    std::ranges::move(buffer->events, std::back_inserter(events));
    buffer->events = {};
    threads.push_back(buffer->thread);
  }
  std::erase_if(recorder().buffers, [](const auto& buffer) { return buffer.use_count() == 1; });
  const auto wall = clock().wall_time().time_since_epoch();
  const auto offset = std::chrono::duration_cast<std::chrono::nanoseconds>(wall).count() -
                      detail::nanoseconds_now();
  detail::save_whole(recorder().path, detail::trace_json(std::move(events), threads, offset));
}

void name_this_thread(std::string_view name) {
  detail::Buffer& buffer = detail::this_thread();
  const std::lock_guard lock(buffer.mutex);
  buffer.thread.name = name;
}

}  // namespace tessera
