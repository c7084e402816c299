// The logarithm of a sum of exponentials over dims.
#pragma once

#include <tessera/core/ops/support/reduce.h>

namespace tessera {

struct Logsumexp : OverDims {
  static constexpr OpInfo info{.name = "logsumexp",
                               .doc = "log of the sum of exponentials over some dims",
                               .saved_inputs = 0b1,
                               .saved_outputs = 0b1,
                               .over_samples = OverPass::none};
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
};

/// log of the sum of e^x over `dims`, all when empty, without overflow. Integers become f32. No
/// complex numbers.
[[nodiscard]] Tensor logsumexp(const Tensor& x, const Dims& dims = {}, bool keepdim = false);

}  // namespace tessera
