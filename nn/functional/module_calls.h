// Calls of modules whose class is not known. What members of Module do has its description there.
#pragma once

#include <string>
#include <utility>

#include <tessera/nn/tree/entries.h>

namespace tessera::nn::detail {

[[nodiscard]] Tensor call(const Module& module, const Tensor& x);
[[nodiscard]] std::pair<Tensor, ModulePtr> call_and_update(const Module& module, const Tensor& x);

/// Runs hooks and forward, of the module as the child `key`.
[[nodiscard]] Tensor call_as(const Module& module, const std::string& key, const Tensor& x);

}  // namespace tessera::nn::detail
