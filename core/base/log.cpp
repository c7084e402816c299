#include <tessera/core/base/log.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include <tessera/core/base/context.h>
#include <tessera/core/base/settings.h>

namespace tessera {

template <>
struct SettingType<LogLevel> {
  static constexpr const char* kExpected = "debug, info, warning, error or off";
  static std::optional<LogLevel> parse(std::string_view text) {
    for (int i = 0; i <= static_cast<int>(LogLevel::off); ++i) {
      if (text == to_string(static_cast<LogLevel>(i))) {
        return static_cast<LogLevel>(i);
      }
    }
    return std::nullopt;
  }
  static void print(std::ostream& out, LogLevel level) { out << to_string(level); }
};

namespace {

const Setting<LogLevel> level_setting{"TESSERA_LOG", LogLevel::info,
                                      "Least level of the lines that the log writes"};

constexpr int kUnread = -1;
constinit std::atomic<int> level_now = kUnread;

// Keys seen by each rank, whose copies of its Context share what is kept of its losses. Ranks come
// and go, so a forgotten one's keys go with it.
class SeenKeys {
 public:
  bool add(std::string_view key) {
    const std::lock_guard lock(mutex_);
    std::erase_if(by_rank_, [](const auto& entry) { return entry.first.expired(); });
    return by_rank_[Context::current().elements].emplace(key).second;
  }

 private:
  std::mutex mutex_;
  std::map<std::weak_ptr<ElementsOfRun>, std::set<std::string, std::less<>>, std::owner_less<>>
      by_rank_;
};

struct Output {
  std::mutex mutex;
  LogSink sink;
};

Output& output() {
  static auto* const instance = new Output;  // never destroyed: destructors may log
  return *instance;
}

std::string finished_line(LogLevel level, std::string_view text) {
  std::string line = Context::current().log_prefix;
  if (level >= LogLevel::warning) {
    line.append(to_string(level)).append(": ");
  }
  return line.append(text);
}

}  // namespace

std::string_view to_string(LogLevel level) noexcept {
  constexpr std::array<std::string_view, 5> kNames{"debug", "info", "warning", "error", "off"};
  return kNames[static_cast<std::size_t>(level)];
}

LogLevel log_level() {
  const int level = level_now.load(std::memory_order_relaxed);
  if (level == kUnread) [[unlikely]] {
    set_log_level(level_setting.get());
    return log_level();
  }
  return static_cast<LogLevel>(level);
}

void set_log_level(LogLevel level) {
  level_now.store(static_cast<int>(level), std::memory_order_relaxed);
}

void write_log(LogLevel level, std::string_view text) {
  std::string line = finished_line(level, text);
  const std::lock_guard lock(output().mutex);
  if (output().sink) {
    output().sink(level, line);
    return;
  }
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);  // one write: processes share the terminal
  std::fflush(stderr);
}

bool first_time(std::string_view key) {
  static auto* const seen = new SeenKeys;
  return seen->add(key);
}

LogSinkScope::LogSinkScope(LogSink sink) {
  const std::lock_guard lock(output().mutex);
  previous_ = std::exchange(output().sink, std::move(sink));
}

LogSinkScope::~LogSinkScope() {
  const std::lock_guard lock(output().mutex);
  output().sink = std::move(previous_);
}

}  // namespace tessera
