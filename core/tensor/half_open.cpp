#include <tessera/core/tensor/half_open.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include <tessera/core/tensor/elements.h>

namespace tessera {
namespace {

template <class T>
T predecessor(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::nextafter(x, -std::numeric_limits<T>::infinity());
  } else {  // 16 bits: sign and magnitude
    constexpr std::uint16_t kSign = 0x8000;
    const bool negative = (x.bits & kSign) != 0;
    const bool zero = (x.bits & 0x7fff) == 0;
    T result;
    result.bits = static_cast<std::uint16_t>(zero ? kSign | 1 : negative ? x.bits + 1 : x.bits - 1);
    return result;
  }
}

template <class T>
double largest_below_as(double end) {
  const T rounded = convert<T>(end);
  const auto value = convert<double>(rounded);
  return value < end ? value : convert<double>(predecessor(rounded));
}

}  // namespace

double largest_below(double end, DType dtype) {
  switch (dtype) {
    case DType::f16:
      return largest_below_as<Float16>(end);
    case DType::bf16:
      return largest_below_as<BFloat16>(end);
    case DType::f32:
      return largest_below_as<float>(end);
    default:
      return largest_below_as<double>(end);
  }
}

}  // namespace tessera
