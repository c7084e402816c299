// Modules as bytes: for another process, or a file.
//
//   struct Mlp : nn::Module {
//     explicit Mlp(std::int64_t width);
//     nn::Value config() const override { return width; }
//   };
//   nn::register_class<Mlp>("Mlp", [](const nn::Value& config) {
//     return nn::make<Mlp>(config.get<std::int64_t>());
//   });
//   nn::ModulePtr copy = nn::deserialize(nn::serialize(*mlp));
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <typeinfo>
#include <vector>

#include <tessera/nn/tree/module.h>

namespace tessera::nn {

/// Makes a module, with `make`, from what `config` gave.
using ModuleFactory = std::function<ModulePtr(const Value& config)>;

namespace detail {

void register_class(const std::type_info& type, const std::string& name, ModuleFactory factory);

}  // namespace detail

/// Lets modules of exactly class M be read from bytes, under `name`, which is the same in every
/// process. Throws KeyError for a name or class that is registered already. May be called from any
/// thread.
template <std::derived_from<Module> M>
void register_class(const std::string& name, ModuleFactory factory) {
  detail::register_class(typeid(M), name, std::move(factory));
}

/// The tree of `module`: classes, settings, ties, modes, and the tensors of all slots, persistent
/// or not; no hooks. A slot without a value stays one, so the prototype of a TreeDef
/// (nn/state/tree_def.h) can be written too. Throws Unsupported naming the class where the root's
/// is not registered, and for extra state or settings of a type of the caller's own.
[[nodiscard]] std::vector<std::byte> serialize(const Module& module);

/// The inverse. Factories make the root and those children that its constructor does not make; no
/// initialiser runs, and nothing counts as drawn. Throws IoError for bytes that `serialize` does
/// not give, Unsupported naming a class that is not registered and those that are.
[[nodiscard]] ModulePtr deserialize(std::span<const std::byte> bytes);

}  // namespace tessera::nn
