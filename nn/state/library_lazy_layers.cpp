// The library's own layers that infer their first size.
#include <tessera/nn/layers/lazy.h>
#include <tessera/nn/state/arguments.h>

namespace tessera::nn::detail {
namespace {

template <class... M>
std::vector<RegisteredClass> lazy_classes() {
  return {registered_class<Lazy<M>>(std::string(kLibrary) + "Lazy" + class_info<M>().name)...};
}

}  // namespace

std::vector<RegisteredClass> library_lazy_layers() {
  return lazy_classes<Linear, Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d,
                      ConvTranspose3d, BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d,
                      InstanceNorm2d, InstanceNorm3d>();
}

}  // namespace tessera::nn::detail
