// What a module says of how it is built. What members of Module do has its description there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tessera/core/tensor/tensor.h>
#include <tessera/nn/tree/forward.h>

namespace tessera::nn::detail {

[[nodiscard]] bool built(const Module& module);
[[nodiscard]] BuildMode build_mode(const Module& module);
[[nodiscard]] const std::optional<std::string>& name(const Module& module);
[[nodiscard]] Device device(const Module& module);
[[nodiscard]] DType dtype(const Module& module);
[[nodiscard]] std::vector<Device> devices(const Module& module);
void build_on_call(Module& module);

/// What the module was made with; the defaults where it was given nothing.
[[nodiscard]] const ModuleOptions& options_of(const Module& module);
/// Throws RuntimeError unless all names of the module's own state are there.
void check_state_known(const Module& module);
/// Tells the module device and dtype of state that is still to be made; nothing leaves them as they
/// are.
void adopt(const Module& module, std::optional<Device> device, std::optional<DType> dtype);
/// Tells them to all modules of the tree that are not built.
void adopt_below(Module& module, std::optional<Device> device, std::optional<DType> dtype);
/// True for a module that waits for its first call, whose state is all declared.
[[nodiscard]] bool waits_for_call(const Module& module);
/// The module's own state is there already: nothing is made.
void mark_built(Module& module);
/// A module that listed its state before its first call, and now has all of it, is built.
void build_if_loaded(Module& module);

}  // namespace tessera::nn::detail
