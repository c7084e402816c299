// Which module's forward is running: names errors and keys random numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// Enters a module of the running model for a scope, on this thread.
class ModulePathScope {
 public:
  explicit ModulePathScope(std::string_view name);
  ~ModulePathScope();
  ModulePathScope(const ModulePathScope&) = delete;
  ModulePathScope& operator=(const ModulePathScope&) = delete;
};

/// Replaces the whole path for a scope: what runs later as part of a module, outside its forward.
class ModulePathOverride {
 public:
  /// `path` as current_module_path() gave it.
  explicit ModulePathOverride(std::string path);
  ~ModulePathOverride();
  ModulePathOverride(const ModulePathOverride&) = delete;
  ModulePathOverride& operator=(const ModulePathOverride&) = delete;

 private:
  std::string path_;
  std::vector<std::string_view> previous_;
};

/// True while some module's forward runs on this thread.
[[nodiscard]] bool module_is_running() noexcept;
/// The dotted path of the running module, empty outside any.
[[nodiscard]] std::string current_module_path();

}  // namespace tessera
