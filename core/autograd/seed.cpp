#include <tessera/core/autograd/seed.h>

#include <tessera/core/base/context.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {

Tensor seed_for(const Tensor& root, const Tensor& seed, bool scale) {
  if (seed.defined()) {
    check(seed.shape() == root.shape(), "backward: the gradient has the wrong shape; got ",
          seed.shape(), ", expected ", root.shape());
    if (seed.cut() == root.cut()) {
      return seed;
    }
    Tensor weights = seed.detach();
    weights.get().cut = root.cut();
    return weights;
  }
  const bool per_microbatch = root.cut().stacked && root.ndim() == 1;
  check(root.numel() == 1 || per_microbatch,
        "backward: needs a gradient for a tensor of several elements; got shape ", root.shape());
  const Pass& pass = Context::current().pass;
  const double microbatches = per_microbatch ? 1 : static_cast<double>(pass.count);
  const double weight = scale ? microbatches / static_cast<double>(pass.grain) : 1;
  Tensor ones = full(root.shape(), weight, {.dtype = root.dtype(), .device = root.device()});
  ones.get().cut = root.cut();
  return ones;
}

}  // namespace tessera
