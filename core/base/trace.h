// Records what the program does when, for chrome://tracing and ui.perfetto.dev.
//
// Every rank is a process of the picture and every thread a row in it. While no trace runs, all of
// this costs one relaxed load.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace tessera {

namespace detail {

/// Number of the running trace; 0 when none runs.
extern std::atomic<std::uint32_t> trace_session;
struct TraceEvent;
struct TraceEventDelete {
  void operator()(TraceEvent* event) const noexcept;
};
using TraceEventPointer = std::unique_ptr<TraceEvent, TraceEventDelete>;
TraceEventPointer begin_range(std::string_view name, const char* category);
TraceEventPointer begin_async(std::string_view name, const char* category);
void end_range(TraceEventPointer event) noexcept;
void end_async(TraceEventPointer event) noexcept;
void add_argument(TraceEvent& event, const char* key, std::int64_t value);
void add_instant(std::string_view name, const char* category);
void add_counter(std::string_view name, double value);

}  // namespace detail

/// Whether a trace runs.
[[nodiscard]] inline bool tracing() noexcept {
  return detail::trace_session.load(std::memory_order_relaxed) != 0;
}

/// Starts to record, for all threads of the process, what `stop_trace` will write to `path`.
/// Throws InvalidArgument when a trace runs already.
void start_trace(std::string path);
/// Stops and writes the file whole, or not at all: throws IoError. Ranges that are still open are
/// left out. Throws InvalidArgument when no trace runs.
void stop_trace();

/// Name of the calling thread's row, also for later traces.
void name_this_thread(std::string_view name);

/// A range of the calling thread's time, from construction to destruction.
///
///   const TraceRange range(op.name, "op");
///
/// `category` and keys must live as long as the program: use literals. Names are copied, and not
/// looked at unless a trace runs.
class TraceRange {
 public:
  template <std::convertible_to<std::string_view> Name>
  explicit TraceRange(const Name& name, const char* category = "tessera") {
    if (tracing()) [[unlikely]] {
      event_ = detail::begin_range(name, category);
    }
  }
  ~TraceRange() {
    if (event_ != nullptr) [[unlikely]] {
      detail::end_range(std::move(event_));
    }
  }
  TraceRange(const TraceRange&) = delete;
  TraceRange& operator=(const TraceRange&) = delete;

  /// Attaches a number, such as bytes, that the viewer shows with the range.
  void set(const char* key, std::int64_t value) {
    if (event_ != nullptr) [[unlikely]] {
      detail::add_argument(*event_, key, value);
    }
  }

 private:
  detail::TraceEventPointer event_;
};

/// A range that may end on another thread than it began on, and overlap others: a collective.
/// Belongs to the rank that began it. Ends with `end`, or when the object goes.
class AsyncTraceRange {
 public:
  AsyncTraceRange() = default;
  explicit AsyncTraceRange(std::string_view name, const char* category = "tessera") {
    if (tracing()) [[unlikely]] {
      event_ = detail::begin_async(name, category);
    }
  }
  ~AsyncTraceRange() { end(); }
  AsyncTraceRange(AsyncTraceRange&&) noexcept = default;
  AsyncTraceRange& operator=(AsyncTraceRange&& other) noexcept {
    end();
    event_ = std::move(other.event_);
    return *this;
  }

  void set(const char* key, std::int64_t value) {
    if (event_ != nullptr) [[unlikely]] {
      detail::add_argument(*event_, key, value);
    }
  }
  void end() noexcept {
    if (event_ != nullptr) [[unlikely]] {
      detail::end_async(std::move(event_));
    }
  }

 private:
  detail::TraceEventPointer event_;
};

/// Marks a moment on the calling thread's row.
inline void trace_instant(std::string_view name, const char* category = "tessera") {
  if (tracing()) [[unlikely]] {
    detail::add_instant(name, category);
  }
}

/// Sets the value, from now on, of the rank's curve called `name`.
inline void trace_counter(std::string_view name, double value) {
  if (tracing()) [[unlikely]] {
    detail::add_counter(name, value);
  }
}

}  // namespace tessera
