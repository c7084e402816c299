// Classes of modules under names that mean the same in every process.
#pragma once

#include <string>

#include <tessera/nn/state/class_entry.h>

namespace tessera::nn::detail {

/// The entry of the class of `module`; null for one that is not registered.
[[nodiscard]] const ClassEntry* registered_class(const Module& module);

/// What bytes name the class of `module`, registered or not.
[[nodiscard]] std::string name_in_bytes(const Module& module);

/// What bytes hold of the settings of `module`.
[[nodiscard]] Value config_of(const Module& module);

/// Throws Unsupported naming `name` and the classes that are registered, IoError for a config that
/// the class does not give.
[[nodiscard]] ModulePtr make_registered(const std::string& name, const Value& config);

/// Fails with the message of both directions.
[[noreturn]] void fail_unregistered(const char* op, const std::string& name);

}  // namespace tessera::nn::detail
