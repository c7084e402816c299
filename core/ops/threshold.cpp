#include <tessera/core/ops/threshold.h>

#include <cmath>
#include <limits>

#include <tessera/core/base/log.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/support/checks.h>
#include <tessera/core/ops/where.h>

namespace tessera {
namespace {

/// `value` as an integer that `dtype` holds.
std::int64_t whole(double value, DType dtype) {
  const double whole = std::trunc(value);
  const bool fits = visit_dtype(dtype, [&]<class T>() {
    if constexpr (std::integral<T>) {
      const auto top = std::ldexp(1.0, std::numeric_limits<T>::digits);
      return whole >= static_cast<double>(std::numeric_limits<T>::min()) && whole < top;
    }
    return false;
  });
  check<ValueError>(fits, "threshold: value out of range; got ", value, ", expected one that ",
                    dtype, " holds");
  if (whole != value) {
    log_once("threshold value", LogLevel::warning, "threshold: ", dtype, " holds ", value, " as ",
             whole);
  }
  return static_cast<std::int64_t>(whole);
}

/// The largest integer that is not above `threshold`.
std::int64_t floor_of(double threshold) {
  check<ValueError>(!std::isnan(threshold),
                    "threshold: wrong threshold; got nan, expected a number");
  if (std::abs(threshold) < 0x1p63) {
    return static_cast<std::int64_t>(std::floor(threshold));
  }
  using Limits = std::numeric_limits<std::int64_t>;
  return threshold < 0 ? Limits::min() : Limits::max();
}

}  // namespace

Tensor threshold(const Tensor& x, double threshold, double value) {
  const DType dtype = x.dtype();
  check_real_number<TypeError>("threshold", "x", dtype);
  if (is_integral(dtype)) {
    return where(x <= floor_of(threshold), whole(value, dtype), x);
  }
  return where(x <= threshold, value, x);
}

const Tensor& threshold_(const Tensor& x, double threshold, double value) {
  return x.copy_(tessera::threshold(x, threshold, value));
}

}  // namespace tessera
