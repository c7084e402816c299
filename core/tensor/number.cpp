#include <tessera/core/tensor/number.h>

#include <limits>

#include <tessera/core/tensor/elements.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {
namespace {

/// True when T holds `value`; one below 0 may stand for what it is modulo the range of an unsigned
/// T, as in PyTorch.
template <class T>
bool holds(std::int64_t value) {
  constexpr auto kLeast = static_cast<std::int64_t>(std::numeric_limits<T>::min());
  constexpr auto kMost = static_cast<std::int64_t>(std::numeric_limits<T>::max());
  return value >= (std::unsigned_integral<T> ? -kMost : kLeast) && value <= kMost;
}

template <class T>
bool holds(double value) {
  using Limits = std::numeric_limits<T>;
  return value >= static_cast<double>(Limits::min()) &&
         value <= static_cast<double>(Limits::max()) && value < 0x1p63;
}

}  // namespace

void Number::check_fits(DType dtype, const char* op) const {
  if (dtype == DType::boolean || is_complex(dtype)) {
    return;
  }
  const bool fits = visit_dtype(dtype, [&]<class T>() {
    if constexpr (std::integral<T>) {
      return is_integer() ? holds<T>(integer_) : holds<T>(value_.real());
    }
    return true;
  });
  check<ValueError>(value_.imag() == 0, op, ": the number does not fit; got ", value_,
                    ", expected ", "a real one, as ", dtype, " holds");
  check<ValueError>(fits, op, ": the number does not fit; got ", value_.real(),
                    ", expected one that ", dtype, " holds");
}

Tensor Number::tensor_beside(DType other, const char* op) const {
  if (is_integer() && is_integral(other)) {
    check_fits(other, op);
  }
  return tensor();
}

Tensor Number::tensor() const {
  Tensor x = empty({}, {.dtype = dtype_});
  x.get().number = true;
  if (dtype_ == DType::i64) {
    store_as(x.get(), 0, integer_);
  } else {
    store_as(x.get(), 0, value_);
  }
  return x;
}

std::ostream& operator<<(std::ostream& out, const Number& number) {
  if (number.dtype_ == DType::c128) {
    return out << number.value_;
  }
  return number.is_integer() ? out << number.integer_ : out << number.real();
}

}  // namespace tessera
