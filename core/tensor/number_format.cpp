#include <tessera/core/tensor/number_format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

namespace tessera {
namespace {

std::string formatted(const char* format, double value) {
  std::array<char, 400> text{};  // the largest double has 309 digits
  static_cast<void>(std::snprintf(text.data(), text.size(), format, value));
  return text.data();
}

std::vector<double> parts(std::span<const std::complex<double>> values, bool imaginary) {
  std::vector<double> result;
  for (const std::complex<double>& value : values) {
    result.push_back(imaginary ? value.imag() : value.real());
  }
  return result;
}

}  // namespace

NumberFormat::NumberFormat(std::span<const double> values, bool floating) : floating_(floating) {
  double largest = 0;
  double smallest = INFINITY;
  for (const double value : values) {
    if (std::isfinite(value) && value != 0) {
      largest = std::max(largest, std::abs(value));
      smallest = std::min(smallest, std::abs(value));
      whole_ = whole_ && value == std::ceil(value);
    }
  }
  if (floating_ && largest > 0) {
    exponent_ = largest / smallest > 1000 || largest > 1e8 || (!whole_ && smallest < 1e-4);
  }
  for (const double value : values) {
    if (!floating_ || (std::isfinite(value) && value != 0)) {
      width_ = std::max(width_, unpadded(value).size());
    }
  }
}

std::string NumberFormat::unpadded(double value) const {
  if (!floating_) {
    return formatted("%.0f", value);
  }
  if (!std::isfinite(value)) {
    return std::isnan(value) ? "nan" : (value < 0 ? "-inf" : "inf");
  }
  if (exponent_) {
    return formatted("%.4e", value);
  }
  return whole_ ? formatted("%.0f.", value) : formatted("%.4f", value);
}

std::string NumberFormat::operator()(double value) const {
  std::string text = unpadded(value);
  text.insert(0, width_ - std::min(width_, text.size()), ' ');
  return text;
}

ElementFormat::ElementFormat(std::span<const std::complex<double>> values, DType dtype)
    : dtype_(dtype),
      real_(parts(values, false), !is_integral(dtype)),
      imaginary_(parts(values, true), true) {}

std::string ElementFormat::operator()(std::complex<double> value) const {
  if (dtype_ == DType::boolean) {
    return value != 0.0 ? " True" : "False";
  }
  if (!is_complex(dtype_)) {
    return real_(value.real());
  }
  std::string imaginary = imaginary_(value.imag());
  imaginary.erase(0, imaginary.find_first_not_of(' '));
  std::string text = real_(value.real());
  return text.append(imaginary[0] == '-' ? "" : "+").append(imaginary).append("j");
}

std::size_t ElementFormat::width() const {
  if (dtype_ == DType::boolean) {
    return 5;
  }
  return real_.width() + (is_complex(dtype_) ? imaginary_.width() + 2 : 0);
}

}  // namespace tessera
