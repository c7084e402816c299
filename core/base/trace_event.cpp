#include <tessera/core/base/trace_event.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <string_view>

namespace tessera::detail {
namespace {

class JsonText {
 public:
  JsonText& raw(std::string_view text) {
    text_ += text;
    return *this;
  }
  JsonText& number(std::int64_t value) { return raw(std::to_string(value)); }
  JsonText& string(std::string_view value);
  /// Microseconds, the format's unit, with every nanosecond.
  JsonText& micros(std::int64_t ns);
  JsonText& real(double value);
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

JsonText& JsonText::string(std::string_view value) {
  text_ += '"';
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", static_cast<unsigned>(c));
      text_ += escaped;
    } else {
      text_ += c;
    }
  }
  text_ += '"';
  return *this;
}

JsonText& JsonText::micros(std::int64_t ns) {
  char text[40];
  std::snprintf(text, sizeof(text), "%lld.%03lld", static_cast<long long>(ns / 1000),
                static_cast<long long>(ns % 1000));
  return raw(text);
}

JsonText& JsonText::real(double value) {
  if (!std::isfinite(value)) {
    return raw("null");  // JSON has no word for it
  }
  char text[40];
  std::snprintf(text, sizeof(text), "%.17g", value);
  return raw(text);
}

void write_head(JsonText& out, const TraceEvent& event, const char* phase, std::int64_t time_ns) {
  out.raw(",\n{\"ph\":\"").raw(phase).raw("\",\"pid\":").number(event.rank);
  out.raw(",\"tid\":").number(event.thread).raw(",\"ts\":").micros(time_ns);
  out.raw(",\"name\":").string(event.name);
  if (event.kind != TraceEvent::Kind::counter) {
    out.raw(",\"cat\":").string(event.category);
  }
}

void write_arguments(JsonText& out, const TraceEvent& event) {
  const char* separator = ",\"args\":{";
  for (const auto& [key, value] : event.arguments) {
    out.raw(separator).string(key).raw(":").number(value);
    separator = ",";
  }
  out.raw(event.arguments.empty() ? "}" : "}}");
}

void write_event(JsonText& out, const TraceEvent& event) {
  switch (event.kind) {
    case TraceEvent::Kind::range:
      write_head(out, event, "X", event.start_ns);
      out.raw(",\"dur\":").micros(event.duration_ns);
      write_arguments(out, event);
      return;
    case TraceEvent::Kind::async:
      write_head(out, event, "b", event.start_ns);
      out.raw(",\"id\":").number(static_cast<std::int64_t>(event.id));
      write_arguments(out, event);
      write_head(out, event, "e", event.start_ns + event.duration_ns);
      out.raw(",\"id\":").number(static_cast<std::int64_t>(event.id)).raw("}");
      return;
    case TraceEvent::Kind::instant:
      write_head(out, event, "i", event.start_ns);
      out.raw(",\"s\":\"t\"}");
      return;
    case TraceEvent::Kind::counter:
      write_head(out, event, "C", event.start_ns);
      out.raw(",\"args\":{\"value\":").real(event.value).raw("}}");
      return;
  }
}

void write_name(JsonText& out, const char* what, int rank, int thread, std::string_view name) {
  out.raw(",\n{\"ph\":\"M\",\"pid\":").number(rank).raw(",\"tid\":").number(thread);
  out.raw(",\"name\":\"").raw(what).raw("\",\"args\":{\"name\":").string(name).raw("}}");
}

void write_names(JsonText& out, const std::vector<TraceEvent>& events,
                 const std::vector<TraceThread>& threads) {
  std::set<int> ranks;
  std::set<std::pair<int, int>> rows;
  for (const TraceEvent& event : events) {
    ranks.insert(event.rank);
    rows.insert({event.rank, event.thread});
  }
  for (const int rank : ranks) {
    write_name(out, "process_name", rank, 0, "rank " + std::to_string(rank));
  }
  for (const auto& [rank, number] : rows) {
    const auto known = std::ranges::find(threads, number, &TraceThread::number);
    const bool named = known != threads.end() && !known->name.empty();
    write_name(out, "thread_name", rank, number,
               named ? known->name : "thread " + std::to_string(number));
  }
}

}  // namespace

std::string trace_json(std::vector<TraceEvent> events, const std::vector<TraceThread>& threads,
                       std::int64_t wall_offset_ns) {
  std::ranges::stable_sort(events, {}, &TraceEvent::start_ns);
  JsonText out;
  out.raw("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"wall_clock_offset_ns\":");
  out.number(wall_offset_ns).raw("},\"traceEvents\":[\n");
  out.raw("{\"ph\":\"M\",\"pid\":0,\"name\":\"trace_format\",\"args\":{\"version\":1}}");
  write_names(out, events, threads);
  for (const TraceEvent& event : events) {
    write_event(out, event);
  }
  return out.raw("\n]}\n").take();
}

}  // namespace tessera::detail
