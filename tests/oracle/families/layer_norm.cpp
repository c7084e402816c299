#include <limits>

#include <tessera/core/ops/layer_norm.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/rms_norm.h>
#include <tessera/nn/layers/layer_norm.h>
#include <tessera/nn/layers/rms_norm.h>

#include "oracle/support/counterparts.h"

namespace tessera::oracle {
namespace {

BuiltLayer layer_norm_layer(const Attributes& a) {
  const nn::LayerNormOptions options{.eps = a.number("eps", 1e-5),
                                     .affine = a.flag("elementwise_affine", true),
                                     .bias = a.flag("bias", true)};
  return layer<nn::LayerNorm>(a.dims("normalized_shape"), options);
}

/// The function takes rows.
Tensor layer_norm_function(const NamedTensors& in, const Attributes& a) {
  const int dims = a.dims("normalized_shape").size();
  const auto as_rows = [&](const Tensor& x) { return x.defined() ? flatten(x, -dims) : x; };
  const Tensor y = layer_norm(as_rows(in["x"]), as_rows(in["weight"]), as_rows(in["bias"]),
                              a.number("eps", 1e-5));
  return reshape(y, in["x"].shape());
}

BuiltLayer rms_norm_layer(const Attributes& a) {
  nn::RMSNormOptions options{.affine = a.flag("elementwise_affine", true)};
  if (a.has("eps")) {
    options.eps = a.number("eps");
  }
  return layer<nn::RMSNorm>(a.dims("normalized_shape"), options);
}

Tensor rms_norm_function(const NamedTensors& in, const Attributes& a) {
  const double epsilon = in["x"].dtype() == DType::f64
                             ? std::numeric_limits<double>::epsilon()
                             : double{std::numeric_limits<float>::epsilon()};
  return rms_norm(in["x"], in["weight"], a.number("eps", epsilon));
}

const Counterparts<Layer> kLayerNorm{{"LayerNorm", {layer_norm_layer, layer_norm_function}},
                                     {"RMSNorm", {rms_norm_layer, rms_norm_function}}};

}  // namespace
}  // namespace tessera::oracle
