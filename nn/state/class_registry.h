// Classes of modules under names that mean the same in every process.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include <tessera/nn/state/serialize.h>

namespace tessera::nn::detail {

/// A class, its name, and how its settings become a value and a module again.
struct RegisteredClass {
  const std::type_info* type = nullptr;
  std::string name;
  ModuleFactory make;
  Value (*config)(const Module& module) = nullptr;
};

/// Throws KeyError for a name or class that is registered already.
void add_class(RegisteredClass added);

/// The name under which the class of `module` is registered.
[[nodiscard]] std::optional<std::string> registered_name(const Module& module);

/// The settings of `module`: those that its registered class gives, or those of `config()`.
[[nodiscard]] Value config_of(const Module& module);

/// Throws Unsupported naming `name` and the classes that are registered.
[[nodiscard]] ModulePtr make_registered(const std::string& name, const Value& config);

/// Fails with the message of both directions.
[[noreturn]] void fail_unregistered(const char* op, const std::string& name);

/// The library's own classes, under kLibrary and their names.
[[nodiscard]] std::vector<RegisteredClass> library_activations();
[[nodiscard]] std::vector<RegisteredClass> library_convolutions();
[[nodiscard]] std::vector<RegisteredClass> library_layers();
[[nodiscard]] std::vector<RegisteredClass> library_lazy_layers();
[[nodiscard]] std::vector<RegisteredClass> library_losses();
inline constexpr std::string_view kLibrary = "nn.";

}  // namespace tessera::nn::detail
