#include <tessera/nn/layers/zero_state.h>

#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/pad.h>
#include <tessera/core/ops/slice.h>

namespace tessera::nn {

Tensor zero_state(const Tensor& x, std::int64_t size, DType dtype) {
  const Dims none = Dims::filled(unstacked_ndim(x), 0);
  Dims after = none;
  after[after.size() - 1] = size;
  return cast(pad(slice(x.detach(), -1, 0, 0), {.before = none, .after = after, .between = {}}),
              dtype);
}

}  // namespace tessera::nn
