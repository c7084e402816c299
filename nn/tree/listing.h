// How parts of a tree are listed. What members of Module do has its description there.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <tessera/core/base/mapped.h>
#include <tessera/nn/parameter.h>

namespace tessera::nn {

/// Which parameters or buffers are listed, and under which names.
struct IterOptions {
  std::string prefix{};          ///< put before every name, with a dot
  bool recurse = true;           ///< false: the module's own only
  bool remove_duplicate = true;  ///< each slot once, under its first name; false: every name
};

template <class T>
using Named = std::vector<std::pair<std::string, T>>;

namespace detail {

[[nodiscard]] Named<Parameter> named_parameters(const Module& module, const IterOptions& options);
[[nodiscard]] Named<Buffer> named_buffers(const Module& module, const IterOptions& options);
[[nodiscard]] Named<ModulePtr> named_children(const Module& module);
[[nodiscard]] Named<Module*> named_modules(const Module& module,
                                           std::unordered_set<const Module*>* memo,
                                           const std::string& prefix, bool remove_duplicate);
[[nodiscard]] Named<SlotPtr> named_slots(const Module& module);
[[nodiscard]] std::int64_t parameter_count(const Module& module);

/// What `named_modules` lists, without asking whether it is built.
[[nodiscard]] Named<Module*> all_modules(const Module& module);
/// What a list holds, without the names.
template <class T>
[[nodiscard]] std::vector<T> values_of(Named<T> named) {
  return mapped(named, [](auto& entry) { return std::move(entry.second); });
}

}  // namespace detail

}  // namespace tessera::nn
