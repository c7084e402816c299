#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/conj.h>
#include <tessera/core/ops/convolution.h>
#include <tessera/core/ops/support/factors.h>
#include <tessera/core/ops/support/row_sums.h>

namespace tessera {

void ConvolutionBackwardWeight::infer(Infer& c, const Attrs& attrs) {
  check_factors(c, attrs.dtype);
  const ConvolutionGeometry g =
      geometry_of_weight(c.op(), c.input(0).shape(), c.input(1).shape(), attrs.size, attrs.options);
  c.add_output(g.weight_shape(), attrs.result);
}

void ConvolutionBackwardWeight::reference(Kernel& k, const Attrs& attrs) {
  const ConvolutionGeometry g =
      geometry_of_weight(k.op(), k.input(0).shape, k.input(1).shape, attrs.size, attrs.options);
  const std::int64_t samples = std::max<std::int64_t>(g.batch / k.microbatch_count(), 1);
  with_computing_type(attrs.dtype, [&]<class C>() {
    const std::vector<C> gradient = dense_values<C>(k.input(0), attrs.dtype);
    const std::vector<C> x = dense_values<C>(k.input(1), attrs.dtype);
    std::vector<C> sums(static_cast<std::size_t>(k.microbatch_count() * g.weights()), C(0));
    for_each_product(g, [&](std::int64_t n, std::int64_t y, std::int64_t from, std::int64_t w) {
      sums[static_cast<std::size_t>(n / samples * g.weights() + w)] +=
          gradient[static_cast<std::size_t>(y)] * x[static_cast<std::size_t>(from)];
    });
    store_microbatch_sums(k, k.output(), std::move(sums));
  });
}

void ConvolutionBackwardWeight::vjp(Vjp& v, const Attrs& attrs) {
  if (v.needs(0)) {
    const Tensor result =
        call<Convolution>({conj(v.input(1)), v.gradient()}, {attrs.options, attrs.dtype});
    v.set(0, cast(result, v.input_meta(0).dtype));
  }
  if (v.needs(1)) {
    const Dims size = spatial_sizes(v.input_meta(1).shape);
    v.set(1, call<ConvolutionBackwardInput>(
                 {conj(v.input(0)), v.gradient()},
                 {attrs.options, size, attrs.dtype, v.input_meta(1).dtype}));
  }
}

ShardRule ConvolutionBackwardWeight::shard(const Infer& c, const Attrs&) {
  return convolution_rule(c, {true, true, false}, false);
}

const Register<ConvolutionBackwardWeight> register_convolution_grad_weight;

}  // namespace tessera
