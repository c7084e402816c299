#include <tessera/core/tensor/box.h>

namespace tessera {

Box Box::part(int dim, std::int64_t first, std::int64_t size) const {
  check(first >= 0 && size >= 0 && first + size <= shape[dim], "Box: no such part; got ", size,
        " entries from ", first, " of dim ", dim, ", expected some of ", shape[dim]);
  Box box = *this;
  box.offset[dim] += first;
  box.shape[dim] = size;
  return box;
}

std::int64_t Box::number(std::int64_t element) const {
  std::int64_t number = 0;
  std::int64_t step = 1;
  for (int d = shape.size() - 1; d >= 0; --d) {
    number += (offset[d] + element % shape[d]) * step;
    element /= shape[d];
    step *= whole[d];
  }
  return number;
}

std::int64_t Box::find(const Dims& index) const {
  std::int64_t element = 0;
  for (int d = 0; d < shape.size(); ++d) {
    const std::int64_t i = index[d] - offset[d];
    if (i < 0 || i >= shape[d]) {
      return -1;
    }
    element = element * shape[d] + i;
  }
  return element;
}

std::int64_t Box::run() const {
  std::int64_t run = 1;
  for (int d = shape.size() - 1; d >= 0; --d) {
    run *= shape[d];
    if (shape[d] != whole[d]) {
      break;
    }
  }
  return run;
}

std::ostream& operator<<(std::ostream& out, const Box& box) {
  const char* before = "[";
  for (int d = 0; d < box.shape.size(); ++d) {
    out << before << box.offset[d] << ':' << box.offset[d] + box.shape[d];
    before = ", ";
  }
  return out << (box.shape.empty() ? "[]" : "]") << " of " << box.whole;
}

}  // namespace tessera
