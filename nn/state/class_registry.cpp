#include <tessera/nn/state/class_registry.h>

#include <map>
#include <mutex>
#include <typeindex>

#include <tessera/core/base/error.h>

namespace tessera::nn::detail {
namespace {

class Registry {
 public:
  Registry() {
    for (const auto& part : {library_activations(), library_convolutions(), library_layers(),
                             library_lazy_layers(), library_losses()}) {
      for (const RegisteredClass& one : part) {
        add(one);
      }
    }
  }

  void add(RegisteredClass added) {
    const std::lock_guard lock(mutex_);
    check<KeyError>(!by_name_.contains(added.name), "register_class: \"", added.name,
                    "\" is registered already");
    const RegisteredClass* other = find(*added.type);
    check<KeyError>(other == nullptr, "register_class: the class of \"", added.name,
                    "\" is registered already, as \"", other == nullptr ? "" : other->name, '"');
    by_type_.emplace(*added.type, added.name);
    by_name_.emplace(added.name, std::move(added));
  }

  std::optional<RegisteredClass> of(const std::type_info& type) {
    const std::lock_guard lock(mutex_);
    const RegisteredClass* found = find(type);
    return found == nullptr ? std::nullopt : std::optional(*found);
  }

  std::optional<RegisteredClass> of(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? std::nullopt : std::optional(found->second);
  }

  /// Those that are not the library's own.
  std::string names() {
    const std::lock_guard lock(mutex_);
    std::string names;
    for (const auto& [name, one] : by_name_) {
      if (!name.starts_with(kLibrary)) {
        names += (names.empty() ? "" : ", ") + name;
      }
    }
    return names;
  }

 private:
  const RegisteredClass* find(const std::type_info& type) {
    const auto found = by_type_.find(type);
    return found == by_type_.end() ? nullptr : &by_name_.at(found->second);
  }

  std::mutex mutex_;
  std::map<std::string, RegisteredClass> by_name_;
  std::map<std::type_index, std::string> by_type_;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

}  // namespace

void add_class(RegisteredClass added) {
  registry().add(std::move(added));
}

void register_class(const std::type_info& type, const std::string& name, ModuleFactory factory) {
  add_class({&type, name, std::move(factory), [](const Module& m) { return m.config(); }});
}

std::optional<std::string> registered_name(const Module& module) {
  const auto found = registry().of(typeid(module));
  return found ? std::optional(found->name) : std::nullopt;
}

Value config_of(const Module& module) {
  const auto found = registry().of(typeid(module));
  return found ? found->config(module) : module.config();
}

ModulePtr make_registered(const std::string& name, const Value& config) {
  const auto found = registry().of(name);
  if (!found) {
    fail_unregistered("deserialize", name);
  }
  ModulePtr module = found->make(config);
  check<ValueError>(module != nullptr, "deserialize: the factory of \"", name, "\" made nothing");
  return module;
}

void fail_unregistered(const char* op, const std::string& name) {
  const std::string known = registry().names();
  fail<Unsupported>(op, ": class \"", name,
                    "\" is not registered; registered: ", known.empty() ? "" : known + " and ",
                    "the library's own; see register_class");
}

}  // namespace tessera::nn::detail
