#include <tessera/nn/layers/lazy.h>
#include <tessera/nn/state/library_classes.h>

namespace tessera::nn::detail {
namespace {

template <class... Layer>
void add_lazy(ClassEntries& all) {
  (all.push_back(class_entry<Lazy<Layer>>("Lazy" + class_info<Layer>().name)), ...);
}

}  // namespace

void add_lazy_layers(ClassEntries& all) {
  add_lazy<Linear, Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d,
           BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d>(
      all);
}

}  // namespace tessera::nn::detail
