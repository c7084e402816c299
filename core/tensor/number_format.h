// How numbers of one tensor are printed: all alike, as PyTorch does it.
#pragma once

#include <complex>
#include <span>
#include <string>

#include <tessera/core/tensor/dtype.h>

namespace tessera {

/// Chosen from all numbers that are shown: whole ones without a fraction, otherwise four digits,
/// with an exponent when they are very large or small or far apart.
class NumberFormat {
 public:
  NumberFormat(std::span<const double> values, bool floating);
  /// Padded on the left to the width of the widest one.
  [[nodiscard]] std::string operator()(double value) const;
  [[nodiscard]] std::size_t width() const { return width_; }

 private:
  [[nodiscard]] std::string unpadded(double value) const;
  bool floating_;
  bool whole_ = true;
  bool exponent_ = false;
  std::size_t width_ = 1;
};

/// The same for any dtype.
class ElementFormat {
 public:
  ElementFormat(std::span<const std::complex<double>> values, DType dtype);
  [[nodiscard]] std::string operator()(std::complex<double> value) const;
  [[nodiscard]] std::size_t width() const;

 private:
  DType dtype_;
  NumberFormat real_;
  NumberFormat imaginary_;
};

}  // namespace tessera
