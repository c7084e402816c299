#include <tessera/core/tensor/shape.h>

#include <algorithm>

namespace tessera {

std::size_t nbytes_of(const char* op, const Shape& shape, std::size_t element) {
  auto n = static_cast<std::int64_t>(element);
  bool fits = true, empty = false;
  for (const std::int64_t size : shape) {  // sizes of 0 count as 1, as in strides
    fits = !__builtin_mul_overflow(n, std::max<std::int64_t>(size, 1), &n) && fits;
    empty = empty || size == 0;
  }
  check(fits, op, ": too many elements; got ", shape, ", expected less than 2^63 bytes");
  return empty ? 0 : static_cast<std::size_t>(n);
}

int normalize_dim(const char* op, std::int64_t dim, int ndim) {
  const int range = std::max(ndim, 1);
  check(dim >= -range && dim < range, op, ": dim out of range; got ", dim, ", expected [", -range,
        ", ", range, ")");
  return static_cast<int>(dim < 0 ? dim + range : dim);
}

Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const int offset = longer.size() - shorter.size();
  for (int i = 0; i < shorter.size(); ++i) {
    const std::int64_t x = longer[i + offset];
    const std::int64_t y = shorter[i];
    check(x == y || x == 1 || y == 1, op, ": shapes do not broadcast; got ", a, " and ", b,
          ", expected equal sizes or 1");
    result[i + offset] = x == 1 ? y : x;
  }
  return result;
}

std::ostream& operator<<(std::ostream& out, const Dims& dims) {
  out << '(';
  for (int i = 0; i < dims.size(); ++i) {
    out << (i == 0 ? "" : ", ") << dims[i];
  }
  return out << (dims.size() == 1 ? ",)" : ")");
}

}  // namespace tessera
