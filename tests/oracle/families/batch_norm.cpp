#include <tessera/nn/layers/batch_norm.h>
#include <tessera/nn/layers/group_norm.h>
#include <tessera/nn/layers/instance_norm.h>

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

BuiltLayer group_norm(const Attributes& a) {
  const nn::GroupNormOptions options{.eps = a.number("eps", 1e-5),
                                     .affine = a.flag("affine", true)};
  return layer<nn::GroupNorm>(a.integer("num_groups"), a.integer("num_channels"), options);
}

const Counterparts<Layer> kBatchNorm{
    {"BatchNorm1d", {running_norm<nn::BatchNorm1d, nn::BatchNormOptions>}},
    {"BatchNorm2d", {running_norm<nn::BatchNorm2d, nn::BatchNormOptions>}},
    {"BatchNorm3d", {running_norm<nn::BatchNorm3d, nn::BatchNormOptions>}},
    {"InstanceNorm1d", {running_norm<nn::InstanceNorm1d, nn::InstanceNormOptions>}},
    {"InstanceNorm2d", {running_norm<nn::InstanceNorm2d, nn::InstanceNormOptions>}},
    {"InstanceNorm3d", {running_norm<nn::InstanceNorm3d, nn::InstanceNormOptions>}},
    {"GroupNorm", {group_norm}},
};

}  // namespace
}  // namespace tessera::oracle
