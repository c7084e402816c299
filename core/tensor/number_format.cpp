#include <tessera/core/tensor/number_format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

#include <tessera/core/tensor/elements.h>

namespace tessera {
namespace {

std::string formatted(const char* format, double value) {
  std::array<char, 400> text{};  // the largest double has 309 digits
  static_cast<void>(std::snprintf(text.data(), text.size(), format, value));
  return text.data();
}

/// What floating numbers are shown of; nothing of integers, which are shown as they are.
std::vector<double> parts(const TensorImpl& x, std::span<const std::int64_t> offsets,
                          bool imaginary) {
  std::vector<double> result;
  for (std::size_t i = 0; !is_integral(x.dtype) && i < offsets.size(); ++i) {
    const auto value = load_as<std::complex<double>>(x, offsets[i]);
    result.push_back(imaginary ? value.imag() : value.real());
  }
  return result;
}

std::string padded(std::string text, std::size_t width) {
  text.insert(0, width - std::min(width, text.size()), ' ');
  return text;
}

}  // namespace

NumberFormat::NumberFormat(std::span<const double> values) {
  double largest = 0;
  double smallest = INFINITY;
  for (const double value : values) {
    if (std::isfinite(value) && value != 0) {
      largest = std::max(largest, std::abs(value));
      smallest = std::min(smallest, std::abs(value));
      whole_ = whole_ && value == std::ceil(value);
    }
  }
  if (largest > 0) {
    exponent_ = largest / smallest > 1000 || largest > 1e8 || (!whole_ && smallest < 1e-4);
  }
  for (const double value : values) {
    if (std::isfinite(value) && value != 0) {
      width_ = std::max(width_, unpadded(value).size());
    }
  }
}

std::string NumberFormat::unpadded(double value) const {
  if (!std::isfinite(value)) {
    return std::isnan(value) ? "nan" : (value < 0 ? "-inf" : "inf");
  }
  if (exponent_) {
    return formatted("%.4e", value);
  }
  return whole_ ? formatted("%.0f.", value) : formatted("%.4f", value);
}

std::string NumberFormat::operator()(double value) const {
  return padded(unpadded(value), width_);
}

ElementFormat::ElementFormat(const TensorImpl& x, std::span<const std::int64_t> offsets)
    : x_(x), real_(parts(x, offsets, false)), imaginary_(parts(x, offsets, true)) {
  for (std::size_t i = 0; is_integral(x.dtype) && i < offsets.size(); ++i) {
    const std::string text = std::to_string(load_as<std::int64_t>(x, offsets[i]));
    integer_width_ = std::max(integer_width_, text.size());
  }
}

std::string ElementFormat::operator()(std::int64_t offset) const {
  if (x_.dtype == DType::boolean) {
    return load_as<bool>(x_, offset) ? " True" : "False";
  }
  if (is_integral(x_.dtype)) {
    return padded(std::to_string(load_as<std::int64_t>(x_, offset)), integer_width_);
  }
  const auto value = load_as<std::complex<double>>(x_, offset);
  if (!is_complex(x_.dtype)) {
    return real_(value.real());
  }
  std::string imaginary = imaginary_(value.imag());
  imaginary.erase(0, imaginary.find_first_not_of(' '));
  std::string text = real_(value.real());
  return text.append(imaginary[0] == '-' ? "" : "+").append(imaginary).append("j");
}

std::size_t ElementFormat::width() const {
  if (x_.dtype == DType::boolean) {
    return 5;
  }
  if (is_integral(x_.dtype)) {
    return integer_width_;
  }
  return real_.width() + (is_complex(x_.dtype) ? imaginary_.width() + 2 : 0);
}

}  // namespace tessera
