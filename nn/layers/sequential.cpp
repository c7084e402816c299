#include <tessera/nn/layers/sequential.h>

namespace tessera::nn {

Tensor Sequential::forward(const Tensor& x) const {
  Tensor y = x;
  for (const ChildEntryPtr& child : detail::child_entries(*this)) {
    check<AttributeError>(child->module != nullptr, "Sequential: \"", child->name,
                          "\" holds no module");
    y = detail::call_as(*child->module, child->name, y);
  }
  return y;
}

}  // namespace tessera::nn
