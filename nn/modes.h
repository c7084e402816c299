// What is switched for a whole tree. What members of Module do has its description there.
#pragma once

#include <functional>

#include <tessera/nn/tree/forward.h>

namespace tessera::nn::detail {

[[nodiscard]] bool training(const Module& module);
Module& train(Module& module, bool on);
void zero_grad(Module& module, bool set_to_none);
Module& requires_grad_(Module& module, bool on);
Module& apply(Module& module, const std::function<void(Module&)>& visit, bool once);

}  // namespace tessera::nn::detail
