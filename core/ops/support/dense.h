// Tensors as dense vectors: how reference kernels that are no plain loops over elements read and
// write them.
#pragma once

#include <cstdint>
#include <vector>

#include <tessera/core/tensor/elements.h>

namespace tessera {

/// The elements of `x` in row-major order, converted.
template <class C>
[[nodiscard]] std::vector<C> dense_values(const TensorImpl& x) {
  std::vector<C> values;
  values.reserve(static_cast<std::size_t>(x.numel()));
  visit_dtype(x.dtype, [&]<class T>() {
    const T* data = x.data<T>();
    for_each_element(x, [&](std::int64_t at) { values.push_back(convert<C>(data[at])); });
  });
  return values;
}

/// Rounds `values` to what `dtype` holds.
template <class C>
void round_values(std::vector<C>& values, DType dtype) {
  visit_dtype(dtype, [&]<class T>() {
    for (C& value : values) {
      value = convert<C>(convert<T>(value));
    }
  });
}

/// The elements of `x`, rounded to what `dtype` holds: the factors of a product computed in it.
template <class C>
[[nodiscard]] std::vector<C> dense_values(const TensorImpl& x, DType dtype) {
  std::vector<C> values = dense_values<C>(x);
  if (dtype != x.dtype) {
    round_values(values, dtype);
  }
  return values;
}

/// Writes `values`, in row-major order, into `out`.
template <class C>
void store_values(TensorImpl& out, const std::vector<C>& values) {
  visit_dtype(out.dtype, [&]<class T>() {
    T* data = out.data<T>();
    std::size_t next = 0;
    for_each_element(out, [&](std::int64_t at) { data[at] = convert<T>(values[next++]); });
  });
}

}  // namespace tessera
