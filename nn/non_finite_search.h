// Where the first infinity or nan of a forward came from.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <tessera/nn/module.h>

namespace tessera::nn {

/// Runs `forward`, which calls `model`, once more: without gradients, with the random numbers of
/// the current pass, and with a look at the output of every module. Returns the module whose output
/// was the first that is not finite, and its first parameter that is not finite, if it has one:
/// "module transformer.h.1.mlp.fc (Linear), whose parameter weight is not finite". Nothing when all
/// outputs are finite.
[[nodiscard]] std::optional<std::string> find_non_finite(Module& model,
                                                         const std::function<void()>& forward);

}  // namespace tessera::nn
