#include <tessera/core/base/settings_check.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/core/base/launch_environment.h>
#include <tessera/core/base/log.h>
#include <tessera/core/base/settings.h>

namespace tessera {
namespace {

/// Letters to be put in, left out or exchanged to make `b` of `a` (Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t exchanged = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({exchanged, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

void say_unknown_settings() {
  const auto known = all_settings();
  for (const std::string& name : unknown_settings()) {
    const auto far = [&](const SettingEntry* setting) { return distance(name, setting->name()); };
    const auto nearest = std::ranges::min_element(known, {}, far);
    log_once(name, LogLevel::warning, name, " is set and does nothing: there is no such setting",
             nearest == known.end() ? "" : "; the nearest is ",
             nearest == known.end() ? "" : (*nearest)->name());
  }
}

/// OpenMP's own variable counts for oneDNN's threads alone.
void say_ignored_threads() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  if (text != nullptr && std::getenv("TESSERA_THREADS") == nullptr) {
    log_info("OMP_NUM_THREADS=", text, " is not read: TESSERA_THREADS, set_num_threads or ",
             "WorldOptions::threads says how many threads kernels use");
  }
}

}  // namespace

void check_settings() {
  for (const SettingEntry* setting : all_settings()) {
    if (setting->is_given()) {
      static_cast<void>(setting->value_text());
    }
  }
  say_unknown_settings();
}

void say_idle_variables(bool threads_given) {
  static std::atomic<bool> said = false;
  if (said.load(std::memory_order_relaxed) || said.exchange(true) ||
      launch_environment().rank > 0) {
    return;
  }
  try {
    say_unknown_settings();
    if (!threads_given) {
      say_ignored_threads();
    }
  } catch (const InvalidArgument&) {  // TESSERA_LOG cannot be read: who asks for it hears of that
  }
}

}  // namespace tessera
