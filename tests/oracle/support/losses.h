// Arguments that losses share.
#pragma once

#include <tessera/core/ops/cross_entropy.h>
#include <tessera/core/tensor/factories.h>

#include "oracle/support/counterparts.h"
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

/// The module M and the function `f` of two or three tensors, both with what `options` makes of the
/// arguments.
template <class M, auto options, auto f>
Layer loss() {
  return {[](const Attributes& a) { return layer<M>(options(a)); },
          [](const NamedTensors& in, const Attributes& a) -> Tensor {
            if constexpr (requires(const Tensor& x) { f(x, x, x, options(a)); }) {
              return f(in.at(0), in.at(1), in.at(2), options(a));
            } else {
              return f(in.at(0), in.at(1), options(a));
            }
          }};
}

}  // namespace tessera::oracle
