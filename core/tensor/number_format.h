// How numbers of one tensor are printed: all alike, as PyTorch does it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <tessera/core/tensor/tensor_impl.h>

namespace tessera {

/// Chosen from all numbers that are shown: whole ones without a fraction, otherwise four digits,
/// with an exponent when they are very large or small or far apart.
class NumberFormat {
 public:
  explicit NumberFormat(std::span<const double> values);
  /// Padded on the left to the width of the widest one.
  [[nodiscard]] std::string operator()(double value) const;
  [[nodiscard]] std::size_t width() const { return width_; }

 private:
  [[nodiscard]] std::string unpadded(double value) const;
  bool whole_ = true;
  bool exponent_ = false;
  std::size_t width_ = 1;
};

/// The format of the elements of a tensor of any dtype, named by their offsets.
class ElementFormat {
 public:
  ElementFormat(const TensorImpl& x, std::span<const std::int64_t> offsets);
  [[nodiscard]] std::string operator()(std::int64_t offset) const;
  [[nodiscard]] std::size_t width() const;

 private:
  const TensorImpl& x_;
  NumberFormat real_;
  NumberFormat imaginary_;
  std::size_t integer_width_ = 1;
};

}  // namespace tessera
