#include <tessera/core/base/module_path.h>

namespace tessera {
namespace {

/// Callers first.
void append_path(const detail::RunningModule* module, std::string& text) {
  if (module == nullptr) {
    return;
  }
  append_path(module->caller, text);
  if (!module->name.empty()) {
    text.append(text.empty() ? "" : ".").append(module->name);
  }
}

}  // namespace

std::string current_module_path() {
  std::string text;
  append_path(detail::running, text);
  return text;
}

}  // namespace tessera
