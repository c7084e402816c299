// The smallest element over dims.
#pragma once

#include <tessera/core/ops/support/extremes.h>

namespace tessera {

struct Min : Extreme {
  static constexpr OpInfo info{.name = "min",
                               .doc = "smallest element over some dims",
                               .saved_inputs = 0b1,
                               .saved_outputs = 0b1,
                               .over_samples = OverPass::least};
  static void reference(Kernel& k, const Attrs& attrs);
};

/// The smallest element over `dims`, all when empty; nan when there is one. Equal ones share the
/// gradient. Throws InvalidArgument for nothing.
[[nodiscard]] Tensor min(const Tensor& x, const Dims& dims = {}, bool keepdim = false);

}  // namespace tessera
