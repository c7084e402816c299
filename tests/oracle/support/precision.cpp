#include "oracle/support/precision.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double largest_finite(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) {
    largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : largest;
  }
  return largest;
}

/// Of one number; equal infinities and two NaN do not differ.
double difference(double got, double reference) {
  if (got == reference || (std::isnan(got) && std::isnan(reference))) {
    return 0;
  }
  return std::isfinite(got) && std::isfinite(reference) ? std::abs(got - reference) : kInfinity;
}

}  // namespace

double error_of(const Tensor& got, const Tensor& reference) {
  if (!got.defined() || got.shape() != reference.shape()) {
    return kInfinity;
  }
  const auto values = got.to_vector<double>();
  const auto expected = reference.to_vector<double>();
  double worst = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    worst = std::max(worst, difference(values[i], expected[i]));
  }
  const double largest = largest_finite(expected);
  return largest > 0 ? worst / largest : worst;
}

double ulp_of(const Tensor& reference, DType dtype) {
  const double largest = largest_finite(reference.to_vector<double>());
  const int mantissa_bits = dtype == DType::bf16 ? 7 : 23;
  return largest > 0 ? std::ldexp(1.0, std::ilogb(largest) - mantissa_bits) / largest : 0;
}

double allowed_error(const Node& reference, const Precision& precision) {
  if (!is_floating(reference.values.dtype())) {
    return 0;
  }
  if (precision.parameters == DType::f64) {
    return 1e-10;
  }
  return 2 * reference.attributes.number(precision.name) +
         ulp_of(reference.values, precision.inputs);
}

}  // namespace tessera::oracle
