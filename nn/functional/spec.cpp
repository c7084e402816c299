#include <tessera/nn/functional/spec.h>

#include <tessera/core/tensor/factories.h>
#include <tessera/nn/build/meta_scope.h>

namespace tessera::nn {

ArraySpec spec(const Module& module, const ArraySpec& input) {
  const detail::MetaScope meta(module);
  const Device device{.type = DeviceType::meta};
  const Tensor y = module(empty(input.shape, {.dtype = input.dtype, .device = device}));
  return {y.shape(), y.dtype()};
}

}  // namespace tessera::nn
