#include <tessera/nn/layers/batch_norm.h>
#include <tessera/nn/layers/group_norm.h>
#include <tessera/nn/layers/instance_norm.h>
#include <tessera/nn/layers/layer_norm.h>
#include <tessera/nn/layers/rms_norm.h>
#include <tessera/nn/state/library_classes.h>

namespace tessera::nn::detail {

void add_norms(ClassEntries& all) {
  add_classes<BatchNorm1d, BatchNorm2d, BatchNorm3d, GroupNorm, InstanceNorm1d, InstanceNorm2d,
              InstanceNorm3d, LayerNorm, RMSNorm>(all);
}

}  // namespace tessera::nn::detail
