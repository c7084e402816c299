#include <tessera/nn/state/class_registry.h>

#include <map>
#include <mutex>
#include <typeindex>

#include <tessera/core/base/error.h>

namespace tessera::nn::detail {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, ModuleFactory> factories;
  std::map<std::type_index, std::string> names;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

}  // namespace

void register_class(const std::type_info& type, const std::string& name, ModuleFactory factory) {
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  check<KeyError>(!known.factories.contains(name), "register_class: \"", name,
                  "\" is registered already");
  const auto other = known.names.find(type);
  check<KeyError>(other == known.names.end(), "register_class: the class of \"", name,
                  "\" is registered already, as \"",
                  other == known.names.end() ? "" : other->second, '"');
  known.factories.emplace(name, std::move(factory));
  known.names.emplace(type, name);
}

std::optional<std::string> registered_name(const Module& module) {
  Registry& known = registry();
  const std::lock_guard lock(known.mutex);
  const auto found = known.names.find(typeid(module));
  return found == known.names.end() ? std::nullopt : std::optional(found->second);
}

ModulePtr make_registered(const std::string& name, const Value& config) {
  ModuleFactory factory;
  {
    Registry& known = registry();
    const std::lock_guard lock(known.mutex);
    const auto found = known.factories.find(name);
    factory = found == known.factories.end() ? nullptr : found->second;
  }
  if (factory == nullptr) {
    fail_unregistered("deserialize", name);
  }
  ModulePtr module = factory(config);
  check<ValueError>(module != nullptr, "deserialize: the factory of \"", name, "\" made nothing");
  return module;
}

void fail_unregistered(const char* op, const std::string& name) {
  std::string known;
  {
    const std::lock_guard lock(registry().mutex);
    for (const auto& [other, factory] : registry().factories) {
      known += (known.empty() ? "" : ", ") + other;
    }
  }
  fail<Unsupported>(op, ": class \"", name,
                    "\" is not registered; registered: ", known.empty() ? "none" : known,
                    "; see register_class");
}

}  // namespace tessera::nn::detail
