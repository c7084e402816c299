#include <tessera/core/ops/avg_pool.h>
#include <tessera/core/ops/max_pool.h>
#include <tessera/nn/layers/adaptive_avg_pool.h>
#include <tessera/nn/layers/avg_pool.h>
#include <tessera/nn/layers/max_pool.h>
#include <tessera/nn/layers/spatial.h>

#include "oracle/support/counterparts.h"

namespace tessera::oracle {
namespace {

/// One number where PyTorch was given one, so that it is printed as one.
nn::PerDim per_dim(const Attributes& a, const std::string& name, std::int64_t fallback) {
  const Dims numbers = a.dims(name, {fallback});
  return numbers.size() == 1 ? nn::PerDim(numbers[0]) : nn::PerDim(numbers);
}

std::optional<nn::PerDim> stride_of(const Attributes& a) {
  return a.has("stride") ? std::optional(per_dim(a, "stride", 1)) : std::nullopt;
}

template <class M>
BuiltLayer max_pool_layer(const Attributes& a) {
  const nn::MaxPoolOptions options{.stride = stride_of(a),
                                   .padding = per_dim(a, "padding", 0),
                                   .dilation = per_dim(a, "dilation", 1),
                                   .ceil_mode = a.flag("ceil_mode", false)};
  return layer<M>(per_dim(a, "kernel_size", 1), options);
}

template <class M>
BuiltLayer avg_pool_layer(const Attributes& a) {
  nn::AvgPoolOptions options{.stride = stride_of(a),
                             .padding = per_dim(a, "padding", 0),
                             .ceil_mode = a.flag("ceil_mode", false),
                             .count_include_pad = a.flag("count_include_pad", true)};
  if (a.has("divisor_override")) {
    options.divisor_override = a.integer("divisor_override");
  }
  return layer<M>(per_dim(a, "kernel_size", 1), options);
}

template <class M>
BuiltLayer adaptive_avg_pool_layer(const Attributes& a) {
  return layer<M>(per_dim(a, "output_size", 1));
}

/// The functions take batches.
template <int kDims, class F>
Tensor over_samples(const NamedTensors& in, const F& pool) {
  return nn::over_samples("pool", in["x"], kDims, pool);
}

template <int kDims>
Tensor max_pool_function(const NamedTensors& in, const Attributes& a) {
  const PoolOptions options{.kernel = a.dims("kernel_size"),
                            .stride = a.dims("stride", {}),
                            .padding = a.dims("padding", {0}),
                            .dilation = a.dims("dilation", {1}),
                            .ceil_mode = a.flag("ceil_mode", false)};
  return over_samples<kDims>(in, [&](const Tensor& x) { return max_pool(x, options); });
}

template <int kDims>
Tensor avg_pool_function(const NamedTensors& in, const Attributes& a) {
  const AvgPooling options{
      .kernel = a.dims("kernel_size"),
      .stride = a.dims("stride", {}),
      .padding = a.dims("padding", {0}),
      .ceil_mode = a.flag("ceil_mode", false),
      .counts_padding = a.flag("count_include_pad", true),
      .divisor = a.has("divisor_override") ? a.integer("divisor_override") : 0};
  return over_samples<kDims>(in, [&](const Tensor& x) { return avg_pool(x, options); });
}

/// A size of -1 is the input's.
template <int kDims>
Tensor adaptive_avg_pool_function(const NamedTensors& in, const Attributes& a) {
  return over_samples<kDims>(in, [&](const Tensor& x) {
    Dims size = a.dims("output_size").size() == 1 ? Dims::filled(kDims, a.dims("output_size")[0])
                                                  : a.dims("output_size");
    for (int d = 0; d < kDims; ++d) {
      size[d] = size[d] == -1 ? x.size(d + 2) : size[d];
    }
    return adaptive_avg_pool(x, size);
  });
}

const Counterparts<Layer> kPooling{
    {"MaxPool1d", {max_pool_layer<nn::MaxPool1d>, max_pool_function<1>}},
    {"MaxPool2d", {max_pool_layer<nn::MaxPool2d>, max_pool_function<2>}},
    {"MaxPool3d", {max_pool_layer<nn::MaxPool3d>, max_pool_function<3>}},
    {"AvgPool1d", {avg_pool_layer<nn::AvgPool1d>, avg_pool_function<1>}},
    {"AvgPool2d", {avg_pool_layer<nn::AvgPool2d>, avg_pool_function<2>}},
    {"AvgPool3d", {avg_pool_layer<nn::AvgPool3d>, avg_pool_function<3>}},
    {"AdaptiveAvgPool1d",
     {adaptive_avg_pool_layer<nn::AdaptiveAvgPool1d>, adaptive_avg_pool_function<1>}},
    {"AdaptiveAvgPool2d",
     {adaptive_avg_pool_layer<nn::AdaptiveAvgPool2d>, adaptive_avg_pool_function<2>}},
    {"AdaptiveAvgPool3d",
     {adaptive_avg_pool_layer<nn::AdaptiveAvgPool3d>, adaptive_avg_pool_function<3>}},
};

}  // namespace
}  // namespace tessera::oracle
