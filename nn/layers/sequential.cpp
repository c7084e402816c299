#include <tessera/nn/layers/sequential.h>

namespace tessera::nn {

Tensor Sequential::forward(const Tensor& x) const {
  Tensor y = x;
  for (const ChildEntryPtr& child : child_entries()) {
    check<AttributeError>(child->module != nullptr, "Sequential: \"", child->name,
                          "\" holds no module");
    y = child->module->call_as(child->name, y);
  }
  return y;
}

}  // namespace tessera::nn
