// The quotient of a number and its size as a module.
#pragma once

#include <tessera/core/ops/softsign.h>
#include <tessera/nn/module.h>

namespace tessera::nn {

/// x / (1 + |x|), element by element.
class Softsign : public Module {
 public:
  [[nodiscard]] Tensor forward(const Tensor& x) const { return softsign(x); }
};

}  // namespace tessera::nn
