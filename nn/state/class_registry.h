// Classes of modules under names that mean the same in every process.
#pragma once

#include <optional>
#include <string>

#include <tessera/nn/state/serialize.h>

namespace tessera::nn::detail {

/// The name under which the class of `module` is registered.
[[nodiscard]] std::optional<std::string> registered_name(const Module& module);

/// Throws Unsupported naming `name` and the classes that are registered.
[[nodiscard]] ModulePtr make_registered(const std::string& name, const Value& config);

/// Fails with the message of both directions.
[[noreturn]] void fail_unregistered(const char* op, const std::string& name);

}  // namespace tessera::nn::detail
