// Which shapes and dtypes a module gives, without computing.
#pragma once

#include <tessera/nn/tree/module.h>

namespace tessera::nn {

struct ArraySpec {
  Shape shape;
  DType dtype = DType::f32;
  friend bool operator==(const ArraySpec&, const ArraySpec&) = default;
};

/// Runs `module`, whose forward takes and gives one tensor, on a tensor without elements. No hook
/// runs, nothing is drawn or changed. Throws Unsupported when forward reads values.
[[nodiscard]] ArraySpec spec(const Module& module, const ArraySpec& input);

}  // namespace tessera::nn
