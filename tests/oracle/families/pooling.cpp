#include <tessera/nn/layers/adaptive_avg_pool.h>
#include <tessera/nn/layers/avg_pool.h>
#include <tessera/nn/layers/max_pool.h>

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
BuiltLayer max_pool(const Attributes& a) {
  const nn::MaxPoolOptions options{.stride = stride_of(a),
                                   .padding = per_dim(a, "padding", 0),
                                   .dilation = per_dim(a, "dilation", 1),
                                   .ceil_mode = a.flag("ceil_mode", false)};
  return layer<M>(per_dim(a, "kernel_size", 1), options);
}

template <class M>
BuiltLayer avg_pool(const Attributes& a) {
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
BuiltLayer adaptive_avg_pool(const Attributes& a) {
  return layer<M>(per_dim(a, "output_size", 1));
}

const Counterparts<Layer> kPooling{
    {"MaxPool1d", {max_pool<nn::MaxPool1d>}},
    {"MaxPool2d", {max_pool<nn::MaxPool2d>}},
    {"MaxPool3d", {max_pool<nn::MaxPool3d>}},
    {"AvgPool1d", {avg_pool<nn::AvgPool1d>}},
    {"AvgPool2d", {avg_pool<nn::AvgPool2d>}},
    {"AvgPool3d", {avg_pool<nn::AvgPool3d>}},
    {"AdaptiveAvgPool1d", {adaptive_avg_pool<nn::AdaptiveAvgPool1d>}},
    {"AdaptiveAvgPool2d", {adaptive_avg_pool<nn::AdaptiveAvgPool2d>}},
    {"AdaptiveAvgPool3d", {adaptive_avg_pool<nn::AdaptiveAvgPool3d>}},
};

}  // namespace
}  // namespace tessera::oracle
