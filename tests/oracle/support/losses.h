// Arguments that losses share.
#pragma once

#include <tessera/core/ops/cross_entropy.h>
#include <tessera/core/tensor/factories.h>

#include "oracle/support/fixture.h"

namespace tessera::oracle {

[[nodiscard]] inline LossReduction reduction_of(const Attributes& a) {
  const std::string name = a.text("reduction", "mean");
  if (name == "none") {
    return LossReduction::none;
  }
  return name == "sum" ? LossReduction::sum : LossReduction::mean;
}

/// Weights whose number is the argument's; undefined without it. Their values are state.
[[nodiscard]] inline Tensor weights_of(const Attributes& a, const std::string& name) {
  return a.has(name) ? ones({a.integer(name)}) : Tensor();
}

}  // namespace tessera::oracle
