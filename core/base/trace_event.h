// What a trace is made of, and how it is written; for trace.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tessera::detail {

/// One event, named after the "Trace Event Format" of Chromium.
struct TraceEvent {
  enum class Kind { range, async, instant, counter };

  Kind kind = Kind::range;
  std::uint32_t session = 0;
  int rank = 0;
  int thread = 0;             ///< number of the thread that began it, in order of first events
  std::int64_t start_ns = 0;  ///< of the monotonic clock
  std::int64_t duration_ns = 0;
  std::uint64_t id = 0;  ///< pairs the two ends of an asynchronous range
  double value = 0;      ///< of a counter
  const char* category = "";
  std::string name;
  std::vector<std::pair<const char*, std::int64_t>> arguments;
};

struct TraceThread {
  int number = 0;
  std::string name;
};

/// The whole file: the events by time, and names for the ranks and threads that occur in them.
/// `wall_offset_ns` is what to add to a time of the monotonic clock to get calendar time.
[[nodiscard]] std::string trace_json(std::vector<TraceEvent> events,
                                     const std::vector<TraceThread>& threads,
                                     std::int64_t wall_offset_ns);

}  // namespace tessera::detail
