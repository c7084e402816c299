#include <tessera/core/tensor/any.h>

#include <algorithm>

namespace tessera {

bool any(const Tensor& x) {
  const std::vector<bool> elements = x.to_vector<bool>();
  return std::ranges::find(elements, true) != elements.end();
}

bool all(const Tensor& x) {
  const std::vector<bool> elements = x.to_vector<bool>();
  return std::ranges::find(elements, false) == elements.end();
}

}  // namespace tessera
