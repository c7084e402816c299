// Walking the elements of strided tensors of any dtype: slow, simple, and right.
//
// Reference kernels, printing and host-side conversion use it; fast kernels do not.
#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include <tessera/core/tensor/tensor_impl.h>

namespace tessera {

/// Counts through the indices of a shape in row-major order, keeping element offsets of N strided
/// operands up to date.
template <int N>
class StridedCounter {
 public:
  StridedCounter(const Shape& shape, const std::array<Strides, N>& strides)
      : shape_(shape), strides_(strides) {}

  std::array<std::int64_t, N> offsets{};

  void next() {
    for (int d = shape_.size() - 1; d >= 0; --d) {
      if (++index_[d] < shape_[d]) {
        shift(d, 1);
        return;
      }
      shift(d, 1 - shape_[d]);
      index_[d] = 0;
    }
  }
  [[nodiscard]] const Dims& index() const { return index_; }

 private:
  void shift(int d, std::int64_t steps) {
    for (std::size_t k = 0; k < N; ++k) {
      offsets[k] += steps * strides_[k][d];
    }
  }
  Shape shape_;
  std::array<Strides, N> strides_;
  Dims index_ = Dims::filled(shape_.size(), 0);
};

/// Strides of `x` read as if it had `shape`: zero along dims that broadcast.
[[nodiscard]] inline Strides broadcast_strides(const TensorImpl& x, const Shape& shape) {
  Strides strides = Dims::filled(shape.size(), 0);
  const int offset = shape.size() - x.shape.size();
  for (int i = 0; i < x.shape.size(); ++i) {
    strides[i + offset] = x.shape[i] == 1 ? 0 : x.strides[i];
  }
  return strides;
}

/// Calls `f(offset)` for every element of `x` in row-major order; the offset counts from the
/// tensor's first element.
template <class F>
void for_each_element(const TensorImpl& x, F&& f) {
  StridedCounter<1> counter(x.shape, {x.strides});
  for (std::int64_t i = x.numel(); i > 0; --i, counter.next()) {
    f(counter.offsets[0]);
  }
}

/// Converts between element types as a cast in C++ would, through float for 16-bit floats; complex
/// to real drops the imaginary part; anything but zero is true.
template <class To, class From>
[[nodiscard]] To convert(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<From, Float16> || std::is_same_v<From, BFloat16>) {
    return convert<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<From, std::complex<float>> ||
                       std::is_same_v<From, std::complex<double>>) {
    if constexpr (std::is_same_v<To, std::complex<float>> ||
                  std::is_same_v<To, std::complex<double>>) {
      return To(value);
    } else if constexpr (std::is_same_v<To, bool>) {
      return value != From(0);
    } else {
      return convert<To>(value.real());
    }
  } else if constexpr (std::is_same_v<To, Float16> || std::is_same_v<To, BFloat16>) {
    return To(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, std::complex<float>> ||
                       std::is_same_v<To, std::complex<double>>) {
    return To(static_cast<typename To::value_type>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From(0);
  } else {
    return static_cast<To>(value);
  }
}

/// Reference kernels compute in int64_t, double or complex<double>. The last has no order, the
/// first no fractions.
template <class T>
concept Real = !std::same_as<T, std::complex<double>>;
template <class T>
concept Continuous = !std::integral<T>;

/// Calls `f.template operator()<C>()` with the type in which reference kernels compute results of
/// `dtype`: int64_t, double or complex<double>.
template <class F>
void with_computing_type(DType dtype, F&& f) {
  if (is_complex(dtype)) {
    f.template operator()<std::complex<double>>();
  } else if (is_floating(dtype)) {
    f.template operator()<double>();
  } else {
    f.template operator()<std::int64_t>();
  }
}

/// Element at `offset` from the tensor's first one, as `T`.
template <class T>
[[nodiscard]] T load_as(const TensorImpl& x, std::int64_t offset) {
  return visit_dtype(x.dtype, [&]<class From>() { return convert<T>(x.data<From>()[offset]); });
}

/// Writes `value`, converted, at `offset` from the tensor's first element.
template <class T>
void store_as(TensorImpl& x, std::int64_t offset, T value) {
  visit_dtype(x.dtype, [&]<class To>() { x.data<To>()[offset] = convert<To>(value); });
}

}  // namespace tessera
