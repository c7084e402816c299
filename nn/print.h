// Modules as text.
#pragma once

#include <string>

#include <tessera/nn/tree/forward.h>

namespace tessera::nn::detail {

/// The printed form, that of torch.nn.Module.
[[nodiscard]] std::string repr(const Module& module);

}  // namespace tessera::nn::detail
