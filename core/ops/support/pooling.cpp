#include <tessera/core/ops/support/pooling.h>

namespace tessera {
namespace {

/// Windows along a dim; in ceil mode the last one still begins inside the input or in front of it.
std::int64_t windows(const PoolGeometry& g, std::size_t d, bool ceil_mode) {
  const std::int64_t room = g.in[d] + 2 * g.padding[d] - g.dilation[d] * (g.kernel[d] - 1) - 1;
  const std::int64_t more = ceil_mode ? g.stride[d] - 1 : 0;
  if (room + more < 0) {
    return 0;
  }
  const std::int64_t count = (room + more) / g.stride[d] + 1;
  const bool outside = ceil_mode && (count - 1) * g.stride[d] >= g.in[d] + g.padding[d];
  return outside ? count - 1 : count;
}

}  // namespace

PoolGeometry pool_geometry(const char* op, const Shape& x, const PoolOptions& options) {
  const int ndim = spatial_dims(op, x);
  PoolGeometry g{.ndim = ndim, .batch = x[0], .channels = x[1]};
  const Dims& stride = options.stride.empty() ? options.kernel : options.stride;
  g.in = spatial_numbers(op, "size", spatial_sizes(x), ndim, 1, 1);
  g.kernel = spatial_numbers(op, "kernel size", options.kernel, ndim, 1, 1);
  g.stride = spatial_numbers(op, "stride", stride, ndim, 1, 1);
  g.padding = spatial_numbers(op, "padding", options.padding, ndim, 0, 0);
  g.dilation = spatial_numbers(op, "dilation", options.dilation, ndim, 1, 1);
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t window = g.dilation[d] * (g.kernel[d] - 1) + 1;
    check(g.padding[d] <= window / 2, op, ": padding out of range; got ", g.padding[d],
          ", expected at most ", window / 2, ", half of the window");
    g.out[d] = windows(g, d, options.ceil_mode);
    check(g.out[d] >= 1, op, ": kernel is larger than the padded input; got ", options.kernel,
          ", expected windows that fit into ", x, " padded by ", options.padding);
  }
  check_countable(op, g.y_shape());
  return g;
}

}  // namespace tessera
