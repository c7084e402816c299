#include <tessera/core/ops/batch_norm.h>
#include <tessera/core/ops/group_norm.h>
#include <tessera/nn/layers/batch_norm.h>
#include <tessera/nn/layers/group_norm.h>
#include <tessera/nn/layers/instance_norm.h>
#include <tessera/nn/layers/spatial.h>

#include "oracle/support/counterparts.h"

namespace tessera::oracle {
namespace {

/// BatchNorm's and InstanceNorm's options have the same names and other defaults.
template <class M, class Options>
BuiltLayer running_norm(const Attributes& a) {
  Options options;
  options.eps = a.number("eps", options.eps);
  options.affine = a.flag("affine", options.affine);
  options.track_running_stats = a.flag("track_running_stats", options.track_running_stats);
  if (a.is_none("momentum")) {
    options.momentum.reset();
  } else if (a.has("momentum")) {
    options.momentum = a.number("momentum");
  }
  return layer<M>(a.integer("num_features"), options);
}

/// By the statistics of x in training and where none are kept, else by those that are given.
Tensor batch_norm_function(const NamedTensors& in, const Attributes& a, bool training) {
  const double eps = a.number("eps", 1e-5);
  if (training || !in["running_mean"].defined()) {
    return batch_norm(in["x"], in["weight"], in["bias"], eps).y;
  }
  return batch_norm_with(in["x"], in["running_mean"], in["running_var"], in["weight"], in["bias"],
                         eps);
}

/// The function takes batches.
template <int kDims>
Tensor instance_norm_function(const NamedTensors& in, const Attributes& a, bool training) {
  const double eps = a.number("eps", 1e-5);
  if (!training && in["running_mean"].defined()) {
    return batch_norm_function(in, a, training);
  }
  return nn::over_samples("instance_norm", in["x"], kDims, [&](const Tensor& x) {
    return instance_norm(x, in["weight"], in["bias"], eps);
  });
}

Tensor group_norm_function(const NamedTensors& in, const Attributes& a) {
  return group_norm(in["x"], a.integer("num_groups"), in["weight"], in["bias"],
                    a.number("eps", 1e-5));
}

BuiltLayer group_norm_layer(const Attributes& a) {
  const nn::GroupNormOptions options{.eps = a.number("eps", 1e-5),
                                     .affine = a.flag("affine", true)};
  return layer<nn::GroupNorm>(a.integer("num_groups"), a.integer("num_channels"), options);
}

const Counterparts<Layer> kBatchNorm{
    {"BatchNorm1d",
     {.build = running_norm<nn::BatchNorm1d, nn::BatchNormOptions>,
      .function_of_mode = batch_norm_function}},
    {"BatchNorm2d",
     {.build = running_norm<nn::BatchNorm2d, nn::BatchNormOptions>,
      .function_of_mode = batch_norm_function}},
    {"BatchNorm3d",
     {.build = running_norm<nn::BatchNorm3d, nn::BatchNormOptions>,
      .function_of_mode = batch_norm_function}},
    {"InstanceNorm1d",
     {.build = running_norm<nn::InstanceNorm1d, nn::InstanceNormOptions>,
      .function_of_mode = instance_norm_function<1>}},
    {"InstanceNorm2d",
     {.build = running_norm<nn::InstanceNorm2d, nn::InstanceNormOptions>,
      .function_of_mode = instance_norm_function<2>}},
    {"InstanceNorm3d",
     {.build = running_norm<nn::InstanceNorm3d, nn::InstanceNormOptions>,
      .function_of_mode = instance_norm_function<3>}},
    {"GroupNorm", {group_norm_layer, group_norm_function}},
};

}  // namespace
}  // namespace tessera::oracle
