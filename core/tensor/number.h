// A plain number as an operand.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include <tessera/core/tensor/tensor.h>

namespace tessera {

template <class T>
concept PlainNumber = std::is_arithmetic_v<T>;

/// A C++ number where an op takes a tensor. In promotion only its kind counts (bool, integer,
/// floating, complex), not its width.
class Number {
 public:
  template <PlainNumber T>
  Number(T value) : value_(static_cast<double>(value)), integer_(to_integer(value)) {
    if constexpr (std::same_as<T, bool>) {
      dtype_ = DType::boolean;
    } else if constexpr (std::integral<T>) {
      dtype_ = DType::i64;
    }
  }
  template <std::floating_point T>
  Number(std::complex<T> value) : value_(value), dtype_(DType::c128) {}

  /// A 0-d tensor on the CPU: bool, i64, f64 or c128.
  [[nodiscard]] Tensor tensor() const;
  /// The tensor for an op whose result holds the number as it is: where promotion beside a tensor
  /// of `other` leaves it an integer of that width, it must fit as `check_fits` says.
  [[nodiscard]] Tensor tensor_beside(DType other, const char* op) const;
  /// Throws ValueError, naming `op`, where elements of `dtype` cannot hold the number: those
  /// of integers no nan and nothing out of range, those of reals no imaginary part. As in PyTorch,
  /// fractions are cut off, bools hold anything, and u8 holds integers from -255 on, modulo 256.
  void check_fits(DType dtype, const char* op) const;
  [[nodiscard]] double real() const { return value_.real(); }
  [[nodiscard]] bool is_integer() const { return dtype_ == DType::i64; }
  [[nodiscard]] std::int64_t integer() const { return integer_; }  ///< of an integer
  /// f(value), which comes as std::int64_t, exact, or as std::complex<double>.
  template <class F>
  auto visit(const F& f) const {
    return is_integer() ? f(integer_) : f(value_);
  }
  friend bool operator==(const Number&, const Number&) = default;
  /// Prints a complex number as (1,2), others as they are.
  friend std::ostream& operator<<(std::ostream& out, const Number& number);

 private:
  template <PlainNumber T>
  static std::int64_t to_integer(T value) {
    if constexpr (std::integral<T>) {
      check(sizeof(T) < 8 || std::signed_integral<T> || static_cast<std::int64_t>(value) >= 0,
            "number: integer out of range; got ", value, ", expected at most 2^63 - 1");
      return static_cast<std::int64_t>(value);
    } else {
      return 0;
    }
  }
  std::complex<double> value_;
  std::int64_t integer_ = 0;  ///< exact, beyond the 53 bits of a double
  DType dtype_ = DType::f64;
};

}  // namespace tessera
