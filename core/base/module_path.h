// Which module's forward is running: names errors and keys random numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera {

/// Enters a module of the running model for a scope, on this thread.
class ModulePathScope {
 public:
  explicit ModulePathScope(std::string_view name);
  ~ModulePathScope();
  ModulePathScope(const ModulePathScope&) = delete;
  ModulePathScope& operator=(const ModulePathScope&) = delete;
};

/// The dotted path of the running module, empty outside any.
[[nodiscard]] std::string current_module_path();

}  // namespace tessera
