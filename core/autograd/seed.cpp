#include <tessera/core/autograd/seed.h>

#include <numeric>

#include <tessera/core/base/context.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {
namespace {

Tensor constant_for(const Tensor& root, double value) {
  return full(root.shape(), value, {.dtype = root.dtype(), .device = root.device()});
}

/// 1/G a microbatch. A root that exists once stands for all of the pass.
double share_of_step(bool per_microbatch) {
  const Pass& pass = Context::current().pass;
  const double microbatches = per_microbatch ? 1 : static_cast<double>(pass.count);
  return microbatches / static_cast<double>(pass.grain);
}

Tensor weighted(const Tensor& root, std::span<const double> weights, bool per_microbatch) {
  if (per_microbatch && std::ssize(weights) == root.numel()) {
    return cast(from_values(weights, root.shape()), root.dtype());
  }
  return constant_for(root, std::accumulate(weights.begin(), weights.end(), 0.0));
}

}  // namespace

Tensor seed_for(const Tensor& root, const Tensor& seed, SeedScale scale,
                std::span<const double> weights) {
  if (seed.defined()) {
    check(seed.shape() == root.shape(), "backward: the gradient has the wrong shape; got ",
          seed.shape(), ", expected ", root.shape());
    if (seed.cut() == root.cut()) {
      return seed;
    }
    Tensor given = seed.detach();
    given.get().cut = root.cut();
    return given;
  }
  const bool per_microbatch = root.cut().stacked && root.ndim() == 1;
  check(root.numel() == 1 || per_microbatch,
        "backward: needs a gradient for a tensor of several elements; got shape ", root.shape());
  Tensor gradient = scale == SeedScale::one ? constant_for(root, 1)
                    : weights.empty()       ? constant_for(root, share_of_step(per_microbatch))
                                            : weighted(root, weights, per_microbatch);
  gradient.get().cut = root.cut();
  return gradient;
}

}  // namespace tessera
