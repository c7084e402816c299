#include <tessera/core/base/error.h>

#include <tessera/core/base/module_path.h>

namespace tessera::detail {

std::string with_module(std::string text) {
  const std::string path = current_module_path();
  const bool named = text.find("module " + path) != std::string::npos ||
                     text.find('"' + path + '"') != std::string::npos;
  return path.empty() || named ? text : text + ", in module " + path;
}

}  // namespace tessera::detail
