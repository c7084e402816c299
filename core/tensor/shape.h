// Shapes and strides: up to eight numbers, held inline.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <span>

#include <tessera/core/base/error.h>

namespace tessera {

inline constexpr int kMaxDims = 8;

/// A short list of 64-bit integers: a shape, strides, or a list of dims. Trivially copyable.
class Dims {
 public:
  constexpr Dims() = default;
  constexpr Dims(std::initializer_list<std::int64_t> values) {
    for (const std::int64_t value : values) {
      push_back(value);
    }
  }
  constexpr explicit Dims(std::span<const std::int64_t> values) {
    for (const std::int64_t value : values) {
      push_back(value);
    }
  }
  static constexpr Dims filled(int size, std::int64_t value) {
    Dims dims;
    for (int i = 0; i < size; ++i) {
      dims.push_back(value);
    }
    return dims;
  }

  [[nodiscard]] constexpr int size() const noexcept { return size_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr std::int64_t& operator[](int i) noexcept {
    require_in_sanitizer(i);
    return values_[static_cast<std::size_t>(i)];
  }
  constexpr std::int64_t operator[](int i) const noexcept {
    require_in_sanitizer(i);
    return values_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] constexpr std::int64_t back() const noexcept { return (*this)[size_ - 1]; }
  constexpr auto begin() noexcept { return values_.begin(); }
  constexpr auto end() noexcept { return values_.begin() + size_; }
  constexpr auto begin() const noexcept { return values_.begin(); }
  constexpr auto end() const noexcept { return values_.begin() + size_; }

  constexpr void push_back(std::int64_t value) {
    check(size_ < kMaxDims, "shape: more than ", kMaxDims, " dims");
    values_[static_cast<std::size_t>(size_++)] = value;
  }
  constexpr void insert(int at, std::int64_t value) {
    push_back(value);
    for (int i = size_ - 1; i > at; --i) {
      std::swap((*this)[i], (*this)[i - 1]);
    }
  }
  constexpr void erase(int at) {
    for (int i = at; i + 1 < size_; ++i) {
      (*this)[i] = (*this)[i + 1];
    }
    --size_;
  }

  friend constexpr bool operator==(const Dims& a, const Dims& b) noexcept {
    if (a.size_ != b.size_) {
      return false;
    }
    for (int i = 0; i < a.size_; ++i) {
      if (a[i] != b[i]) {
        return false;
      }
    }
    return true;
  }

 private:
  /// Behind the dims lies what an earlier shape left there: builds with a sanitizer stop instead.
  constexpr void require_in_sanitizer([[maybe_unused]] int i) const noexcept {
#if defined(__SANITIZE_ADDRESS__)
    if (i < 0 || i >= size_) {
      __builtin_trap();
    }
#endif
  }

  std::array<std::int64_t, kMaxDims> values_{};
  std::int32_t size_ = 0;
};

using Shape = Dims;
using Strides = Dims;  ///< in elements, not bytes

/// Number of elements; 1 for the empty shape of a 0-d tensor.
[[nodiscard]] constexpr std::int64_t numel_of(const Shape& shape) noexcept {
  std::int64_t n = 1;
  for (const std::int64_t size : shape) {
    n *= size;
  }
  return n;
}

/// Bytes of a dense tensor with elements of `element` bytes. Throws InvalidArgument naming `op`
/// when they are more than addresses count.
[[nodiscard]] std::size_t nbytes_of(const char* op, const Shape& shape, std::size_t element);

/// Strides of a dense row-major tensor.
[[nodiscard]] constexpr Strides contiguous_strides(const Shape& shape) noexcept {
  Strides strides = shape;
  std::int64_t step = 1;
  for (int i = shape.size() - 1; i >= 0; --i) {
    strides[i] = step;
    step *= shape[i] > 1 ? shape[i] : 1;
  }
  return strides;
}

/// True when elements lie densely in row-major order; strides of dims of size 1 are ignored.
[[nodiscard]] constexpr bool is_contiguous(const Shape& shape, const Strides& strides) noexcept {
  std::int64_t step = 1;
  for (int i = shape.size() - 1; i >= 0; --i) {
    if (shape[i] != 1 && strides[i] != step) {
      return numel_of(shape) == 0;
    }
    step *= shape[i];
  }
  return true;
}

/// Maps a dim in [-ndim, ndim) to [0, ndim). Throws InvalidArgument naming `op` outside it.
[[nodiscard]] int normalize_dim(const char* op, std::int64_t dim, int ndim);

/// The shape that two shapes broadcast to (NumPy's rule). Throws InvalidArgument naming `op`.
[[nodiscard]] Shape broadcast_shapes(const char* op, const Shape& a, const Shape& b);

/// Prints as (2, 3).
std::ostream& operator<<(std::ostream&, const Dims&);

}  // namespace tessera
