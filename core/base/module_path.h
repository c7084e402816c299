// Which module's forward is running: names errors and keys random numbers.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace tessera {

namespace detail {
/// A module that runs, and the one that called it, or null. The path is a list through the scopes
/// on the stack: entering a module costs two words and no memory.
struct RunningModule {
  std::string_view name;
  const RunningModule* caller;
};

/// One for the whole program, also where a part is compiled with -fvisibility=hidden.
[[gnu::visibility("default"), gnu::tls_model("initial-exec")]]  //
inline constinit thread_local const RunningModule* running;
}  // namespace detail

/// Enters a module of the running model for a scope, on this thread. `name` must live as long.
class ModulePathScope {
 public:
  explicit ModulePathScope(std::string_view name) noexcept
      : here_{name, std::exchange(detail::running, &here_)} {}
  ~ModulePathScope() { detail::running = here_.caller; }
  ModulePathScope(const ModulePathScope&) = delete;
  ModulePathScope& operator=(const ModulePathScope&) = delete;

 private:
  detail::RunningModule here_;
};

/// Replaces the whole path for a scope: what runs later as part of a module, outside its forward.
class ModulePathOverride {
 public:
  /// `path` as current_module_path() gave it.
  explicit ModulePathOverride(std::string path) noexcept
      : path_(std::move(path)),
        here_{path_, nullptr},
        previous_(std::exchange(detail::running, &here_)) {}
  ~ModulePathOverride() { detail::running = previous_; }
  ModulePathOverride(const ModulePathOverride&) = delete;
  ModulePathOverride& operator=(const ModulePathOverride&) = delete;

 private:
  std::string path_;
  detail::RunningModule here_;
  const detail::RunningModule* previous_;
};

/// True while some module's forward runs on this thread.
[[nodiscard]] inline bool module_is_running() noexcept {
  return detail::running != nullptr;
}
/// The dotted path of the running module, empty outside any.
[[nodiscard]] std::string current_module_path();

}  // namespace tessera
