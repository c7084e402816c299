#include <tessera/nn/layers/sequential.h>

namespace tessera::nn {

Tensor Sequential::forward(const Tensor& x) const {
  Tensor y = x;
  for (const ModulePtr& child : children()) {
    y = child->call(y);
  }
  return y;
}

}  // namespace tessera::nn
