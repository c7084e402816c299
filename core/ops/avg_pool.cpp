#include <tessera/core/ops/avg_pool.h>

#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/resample.h>

namespace tessera {
namespace {

/// The last `ndim` of three.
Dims last(const Spatial& numbers, int ndim) {
  return Dims(std::span<const std::int64_t>(numbers).last(static_cast<std::size_t>(ndim)));
}

}  // namespace

Tensor avg_pool(const Tensor& x, const AvgPooling& options) {
  const PoolGeometry g = pool_geometry("avg_pool", unstacked_shape(x),
                                       {.kernel = options.kernel,
                                        .stride = options.stride,
                                        .padding = options.padding,
                                        .ceil_mode = options.ceil_mode});
  return call<Resample>({x}, {.kind = Resampling::Kind::average,
                              .in = last(g.in, g.ndim),
                              .out = last(g.out, g.ndim),
                              .kernel = last(g.kernel, g.ndim),
                              .stride = last(g.stride, g.ndim),
                              .padding = last(g.padding, g.ndim),
                              .counts_padding = options.counts_padding,
                              .divisor = options.divisor});
}

Tensor adaptive_avg_pool(const Tensor& x, const Dims& size) {
  const Shape shape = unstacked_shape(x);
  const int ndim = spatial_dims("adaptive_avg_pool", shape);
  const Spatial out = spatial_numbers("adaptive_avg_pool", "output size", size, ndim, 1, 1);
  return call<Resample>(
      {x},
      {.kind = Resampling::Kind::adaptive, .in = spatial_sizes(shape), .out = last(out, ndim)});
}

}  // namespace tessera
