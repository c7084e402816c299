#include <tessera/nn/functional/spec.h>

#include <tessera/core/tensor/factories.h>

namespace tessera::nn {

Tensor detail::without_elements(const ArraySpec& spec) {
  return empty(spec.shape, {.dtype = spec.dtype, .device = {.type = DeviceType::meta}});
}

ArraySpec spec(const Module& module, const ArraySpec& input) {
  const detail::MetaScope meta(module);
  return detail::specs_of(module(detail::without_elements(input)));
}

}  // namespace tessera::nn
