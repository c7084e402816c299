#include <tessera/core/ops/prelu.h>

#include <tessera/core/dispatch/call_context.h>
#include <tessera/core/dispatch/vjp.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/support/in_place.h>
#include <tessera/core/ops/where.h>
#include <tessera/core/tensor/number.h>

namespace tessera {
namespace {

void check_weight(const Tensor& x, const Tensor& weight) {
  check_real<TypeError>("prelu", "x", x.dtype());
  check_real<TypeError>("prelu", "weight", weight.dtype());
  check<RuntimeError>(weight.ndim() == 1, "prelu: wrong shape of weight; got ", weight.shape(),
                      ", expected one dim");
  const bool autocast = CallContext::current().autocast.has_value() && is_floating(x.dtype()) &&
                        weight.dtype() != DType::f64;
  check<RuntimeError>(autocast || weight.dtype() == x.dtype(), "prelu: wrong dtype of weight; got ",
                      weight.dtype(), ", expected ", x.dtype(), " as of x");
  const std::int64_t count = weight.numel();
  const int ndim = unstacked_ndim(x);
  const std::int64_t channels = ndim < 2 ? 1 : x.size(1 - ndim);
  check<ValueError>(count == 1 || count == channels,
                    "prelu: the weight fits neither all of x nor its channels; got ", count,
                    " numbers, expected 1 or ", channels, " for shape ", x.shape());
}

}  // namespace

void Prelu::reference(Kernel& k, const Attrs&) {
  map_elements<2>(k, k.output().dtype, [](std::floating_point auto x, std::floating_point auto a) {
    return x > 0 ? x : a * x;
  });
}

void Prelu::vjp(Vjp& v, const Attrs&) {
  const Tensor x = v.input(0);
  const Tensor g = v.gradient();
  const Tensor positive = x > 0;
  v.set(0, [&] { return gradient_like(where(positive, g, g * v.input(1)), v.input_meta(0)); });
  if (v.needs(1)) {
    // Products of 16-bit floats are summed in f32 and rounded once.
    const Tensor wide = size_of(x.dtype()) < 4 ? cast(x, DType::f32) : x;
    v.set(1, gradient_like(where(positive, 0, wide * g), v.input_meta(1)));
  }
}

Tensor prelu(const Tensor& x, const Tensor& weight) {
  check_weight(x, weight);
  const Tensor slopes = cast(weight, x.dtype());
  const int ndim = unstacked_ndim(x);
  if (ndim == 0) {
    return call<Prelu>({x, reshape(slopes, {})});
  }
  if (slopes.numel() == 1) {
    return call<Prelu>({x, slopes});
  }
  Shape aligned = Dims::filled(ndim - 1, 1);
  aligned[0] = slopes.numel();
  return call<Prelu>({x, reshape(slopes, aligned)});
}

Tensor leaky_relu(const Tensor& x, double negative_slope) {
  return call<Prelu>({x, Number(negative_slope).tensor()});
}
const Tensor& leaky_relu_(const Tensor& x, double negative_slope) {
  return call_in_place<Prelu>(x, {x, Number(negative_slope).tensor()});
}

const Register<Prelu> register_prelu;

}  // namespace tessera
