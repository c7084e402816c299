#include <tessera/core/ops/threshold.h>

#include <cmath>
#include <concepts>
#include <limits>
#include <utility>

#include <tessera/core/base/log.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/where.h>

namespace tessera {
namespace {

template <std::integral T>
bool holds(Number value) {
  if (value.is_integer()) {
    return std::in_range<T>(value.integer());
  }
  using Limits = std::numeric_limits<T>;
  const double whole = std::trunc(value.real());
  return whole >= static_cast<double>(Limits::min()) && whole < std::ldexp(1.0, Limits::digits);
}

/// `value` as an integer that `dtype` holds.
std::int64_t whole(Number value, DType dtype) {
  const bool fits = visit_dtype(dtype, [&]<class T>() {
    if constexpr (std::integral<T> && !std::same_as<T, bool>) {
      return holds<T>(value);
    }
    return false;
  });
  const double number = value.real();
  check<ValueError>(fits, "threshold: value out of range; got ", number, ", expected one that ",
                    dtype, " holds");
  if (value.is_integer()) {
    return value.integer();
  }
  if (std::trunc(number) != number) {
    log_once("threshold value", LogLevel::warning, "threshold: ", dtype, " holds ", number, " as ",
             std::trunc(number));
  }
  return static_cast<std::int64_t>(number);
}

/// The largest integer that is not above `threshold`.
std::int64_t floor_of(Number number) {
  if (number.is_integer()) {
    return number.integer();
  }
  const double threshold = number.real();
  check<ValueError>(!std::isnan(threshold),
                    "threshold: wrong threshold; got nan, expected a number");
  if (std::abs(threshold) < 0x1p63) {
    return static_cast<std::int64_t>(std::floor(threshold));
  }
  using Limits = std::numeric_limits<std::int64_t>;
  return threshold < 0 ? Limits::min() : Limits::max();
}

}  // namespace

Tensor threshold(const Tensor& x, Number threshold, Number value) {
  const DType dtype = x.dtype();
  check_real_number<TypeError>("threshold", "x", dtype);
  if (is_integral(dtype)) {
    return where(x <= floor_of(threshold), whole(value, dtype), x);
  }
  return where(x <= threshold, value, x);
}

const Tensor& threshold_(const Tensor& x, Number threshold, Number value) {
  return x.copy_(tessera::threshold(x, threshold, value));
}

}  // namespace tessera
