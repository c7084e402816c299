// Lists of modules under ivy's names.
#pragma once

#include <span>
#include <string>

#include <tessera/nn/tree/module.h>

namespace tessera::nn {

/// Registers `modules` as v0, v1, ... of a group, a module without forward, that becomes the child
/// `name` of `owner`.
ModulePtr named_list(Module& owner, const std::string& name, std::span<const ModulePtr> modules);

}  // namespace tessera::nn
