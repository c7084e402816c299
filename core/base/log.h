// The log: lines to standard error with a level and the rank they come from.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <tessera/core/base/error.h>

namespace tessera {

enum class LogLevel { debug, info, warning, error, off };

[[nodiscard]] std::string_view to_string(LogLevel) noexcept;

/// Lines below this level are dropped. At first: TESSERA_LOG, or `info`.
[[nodiscard]] LogLevel log_level();
void set_log_level(LogLevel level);

/// Writes one line (without its newline) at `level`; newlines inside are kept. Thread-safe: lines
/// do not mix. The line is prefixed with Context::current().log_prefix and, from `warning` on, with
/// the level's name.
void write_log(LogLevel level, std::string_view text);

/// Writes the concatenation of `parts`, which are formatted only when the level is written.
template <class... Parts>
void log(LogLevel level, const Parts&... parts) {
  if (level >= log_level()) {
    write_log(level, detail::concat(parts...));
  }
}
template <class... Parts>
void log_debug(const Parts&... parts) {
  log(LogLevel::debug, parts...);
}
template <class... Parts>
void log_info(const Parts&... parts) {
  log(LogLevel::info, parts...);
}
template <class... Parts>
void log_warning(const Parts&... parts) {
  log(LogLevel::warning, parts...);
}
template <class... Parts>
void log_error(const Parts&... parts) {
  log(LogLevel::error, parts...);
}

/// True the first time that the calling thread's rank (its Context) comes with `key`.
[[nodiscard]] bool first_time(std::string_view key);

/// Like `log`, once a rank for each `key`.
template <class... Parts>
void log_once(std::string_view key, LogLevel level, const Parts&... parts) {
  if (level >= log_level() && first_time(key)) {
    write_log(level, detail::concat(parts...));
  }
}

/// What happens to a finished line (prefixed, without newline).
using LogSink = std::function<void(LogLevel level, std::string_view line)>;

/// Sends the log of the whole process to `sink` until the scope ends; scopes nest. The sink is
/// called by one thread at a time and must not log.
class LogSinkScope {
 public:
  explicit LogSinkScope(LogSink sink);
  ~LogSinkScope();
  LogSinkScope(const LogSinkScope&) = delete;
  LogSinkScope& operator=(const LogSinkScope&) = delete;

 private:
  LogSink previous_;
};

}  // namespace tessera
