// Modules as bytes: for another process, or a file.
//
//   struct Mlp : nn::Module {
//     explicit Mlp(std::int64_t width, bool bias = true);
//     auto arguments() const { return std::tuple(width_, bias_); }
//   };
//   nn::register_class<Mlp>("Mlp");
//   nn::ModulePtr copy = nn::deserialize(nn::serialize(*mlp));
//
// `arguments` gives what the constructor takes to make the module again: bools, numbers, texts,
// enums, Dims, what std::optional, std::vector and std::tuple make of those, and structs of options
// that list their fields:
//
//   struct MlpOptions {
//     bool bias = true;
//     double dropout = 0;
//     template <class Self, class F>
//     static void each(Self& options, const F& f) {
//       f("bias", options.bias);
//       f("dropout", options.dropout);
//     }
//   };
//
// Tessera's own layers and losses are registered, under the names of their classes.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tessera/nn/state/class_entry.h>

namespace tessera::nn {

/// Lets modules of exactly class M be read from bytes, under `name`, which is the same in every
/// process. They are made again from their `arguments()`; without these from nothing. Throws
/// KeyError for a name or class that is registered already. May be called from any thread.
template <detail::TakesItsArguments M>
void register_class(const std::string& name) {
  detail::register_class(detail::class_entry<M>(name));
}
/// Registers a class of modules that `factory` makes again from what their `config()` gives.
template <std::derived_from<Module> M>
void register_class(const std::string& name, ModuleFactory factory) {
  const auto config = [](const Module& module) { return module.config(); };
  detail::register_class({name, &typeid(M), std::move(factory), config});
}

/// The tree of `module`: classes, settings, ties, modes, and the tensors of all slots, persistent
/// or not; no hooks and no initialisers. A slot without a value stays one, so the prototype of a
/// TreeDef (nn/state/tree_def.h) can be written too, and a layer that waits for its first call
/// waits again. Throws Unsupported naming the class where the root's is not registered, and for
/// extra state or settings of a type of the caller's own.
[[nodiscard]] std::vector<std::byte> serialize(const Module& module);

/// The inverse. The root is made anew, and so are those children that its constructor does not make
/// as they were; no initialiser runs, and nothing counts as drawn. Throws IoError for bytes that
/// were damaged or that `serialize` does not give, Unsupported naming a class that is not
/// registered and those that are. Bytes can ask for a module of any size: read those of people you
/// trust.
[[nodiscard]] ModulePtr deserialize(std::span<const std::byte> bytes);

}  // namespace tessera::nn
