#include <tessera/dist/comm/backend.h>

#include <utility>

namespace tessera::dist {
namespace {

std::vector<std::unique_ptr<Backend>>& registry() {
  static std::vector<std::unique_ptr<Backend>> backends;
  return backends;
}

}  // namespace

bool register_backend(std::unique_ptr<Backend> backend) {
  registry().push_back(std::move(backend));
  return true;
}

Backend* find_backend(const std::string& name) {
  for (const auto& backend : registry()) {
    if (backend->name() == name) {
      return backend.get();
    }
  }
  return nullptr;
}

std::vector<Backend*> all_backends() {
  std::vector<Backend*> backends;
  for (const auto& backend : registry()) {
    backends.push_back(backend.get());
  }
  return backends;
}

}  // namespace tessera::dist
