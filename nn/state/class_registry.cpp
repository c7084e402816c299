#include <tessera/nn/state/class_registry.h>

#include <map>
#include <mutex>
#include <typeindex>

#include <tessera/core/base/error.h>
#include <tessera/nn/state/library_classes.h>

namespace tessera::nn::detail {
namespace {

/// Entries stay where they are and as they are.
class Registry {
 public:
  Registry() {
    for (ClassEntry& entry : library_classes()) {
      add(std::move(entry), /*own=*/true);
    }
  }

  void add(ClassEntry entry, bool own = false) {
    const std::lock_guard lock(mutex_);
    const auto named = by_name_.find(entry.name);
    check<KeyError>(named == by_name_.end(), "register_class: \"", entry.name,
                    "\" is registered already");
    const auto same = by_type_.find(*entry.type);
    check<KeyError>(same == by_type_.end(), "register_class: the class of \"", entry.name,
                    "\" is registered already, as \"",
                    same == by_type_.end() ? "" : same->second->name, '"');
    const std::string name = entry.name;
    const ClassEntry& added = by_name_.emplace(name, std::move(entry)).first->second;
    by_type_.emplace(*added.type, &added);
    if (!own) {
      callers_ += (callers_.empty() ? "" : ", ") + name;
    }
  }
  const ClassEntry* find(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &found->second;
  }
  const ClassEntry* find(const std::type_info& type) {
    const std::lock_guard lock(mutex_);
    const auto found = by_type_.find(type);
    return found == by_type_.end() ? nullptr : found->second;
  }
  /// The names that the program registered, as a list.
  std::string callers() {
    const std::lock_guard lock(mutex_);
    return callers_;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, ClassEntry> by_name_;
  std::map<std::type_index, const ClassEntry*> by_type_;
  std::string callers_;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

}  // namespace

void register_class(ClassEntry entry) {
  registry().add(std::move(entry));
}

const ClassEntry* registered_class(const Module& module) {
  return registry().find(typeid(module));
}

std::string name_in_bytes(const Module& module) {
  const ClassEntry* known = registered_class(module);
  return known == nullptr ? module.class_name() : known->name;
}

Value config_of(const Module& module) {
  const ClassEntry* known = registered_class(module);
  return known == nullptr ? module.config() : known->config(module);
}

ModulePtr make_registered(const std::string& name, const Value& config) {
  const ClassEntry* known = registry().find(name);
  if (known == nullptr) {
    fail_unregistered("deserialize", name);
  }
  ModulePtr module;
  try {
    module = known->make(config);
  } catch (const InvalidArgument& error) {
    fail<IoError>("deserialize: the bytes hold no module: config of \"", name,
                  "\": ", error.what());
  }
  check<ValueError>(module != nullptr, "deserialize: the factory of \"", name, "\" made nothing");
  return module;
}

void fail_unregistered(const char* op, const std::string& name) {
  const std::string callers = registry().callers();
  fail<Unsupported>(op, ": class \"", name, "\" is not registered; registered: ", callers,
                    callers.empty() ? "" : " and ",
                    "Tessera's own layers and losses; see register_class");
}

}  // namespace tessera::nn::detail
