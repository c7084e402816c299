// Making tensors.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <tessera/core/tensor/number.h>
#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// Uninitialised memory.
[[nodiscard]] Tensor empty(const Shape& shape, const TensorOptions& options = {});
[[nodiscard]] Tensor zeros(const Shape& shape, const TensorOptions& options = {});
[[nodiscard]] Tensor ones(const Shape& shape, const TensorOptions& options = {});
/// `value` everywhere; integers are exact. Throws ValueError for what the dtype cannot hold, as
/// Number::check_fits says.
[[nodiscard]] Tensor full(const Shape& shape, Number value, const TensorOptions& options = {});
/// A 0-d tensor.
template <PlainNumber T>
[[nodiscard]] Tensor scalar(T value, const TensorOptions& options = {}) {
  return full({}, value, options);
}
[[nodiscard]] Tensor scalar(std::complex<double> value, DType dtype = DType::c64);
/// 0, 1, ..., n - 1.
[[nodiscard]] Tensor arange(std::int64_t n, const TensorOptions& options = {.dtype = DType::i64});
/// start, start + step, ... up to but without `end`; exact where all three are integers.
[[nodiscard]] Tensor arange(Number start, Number end, Number step,
                            const TensorOptions& options = {});
[[nodiscard]] Tensor eye(std::int64_t n, const TensorOptions& options = {});
/// A copy of `values`, whose number must be that of `shape`.
template <class T>
[[nodiscard]] Tensor from_values(std::span<const T> values, const Shape& shape);
template <class T>
[[nodiscard]] Tensor from_values(std::initializer_list<T> values, const Shape& shape) {
  return from_values(std::span<const T>(values.begin(), values.size()), shape);
}
/// One-dimensional, of the dtype that is T: tensor({1.F, 2.F}), tensor<double>({0.1, 0.2}).
template <class T>
[[nodiscard]] Tensor tensor(std::initializer_list<T> values) {
  return from_values(values, {static_cast<std::int64_t>(values.size())});
}
/// Literals with a fraction ask for no precision: tensor({0.1, 0.2}) is f32, as in PyTorch, and so
/// is what an f32 model computes with it.
[[nodiscard]] inline Tensor tensor(std::initializer_list<double> values) {
  const std::vector<float> rounded(values.begin(), values.end());
  return from_values(std::span<const float>(rounded), {static_cast<std::int64_t>(values.size())});
}
/// A tensor on memory of somebody else's, kept alive through `owner`; `data` is dense, row-major.
/// Two of them on one memory are not known to share it: neither overlaps nor writes are noticed.
[[nodiscard]] Tensor from_memory(void* data, const Shape& shape, DType dtype,
                                 std::shared_ptr<const void> owner = {});

/// Uniform in [0, 1) and standard normal, from the context's seed and a running draw number. Every
/// rank and pass draws the same numbers or more of them, so in a step of several microbatches both
/// throw Unsupported, naming `rand_like` and `randn_like` (core/ops/random_like.h), which draw for
/// each sample. Inside a data set's `get` they depend on the loader's seed, the epoch and the
/// sample.
[[nodiscard]] Tensor rand(const Shape& shape, const TensorOptions& options = {});
[[nodiscard]] Tensor randn(const Shape& shape, const TensorOptions& options = {});

/// Tensors of the shape, dtype and device of `x` that hold the samples that `x` holds: in a pass of
/// several microbatches they know the same borders, which `zeros(x.shape())` does not.
[[nodiscard]] Tensor empty_like(const Tensor& x);
[[nodiscard]] Tensor zeros_like(const Tensor& x);
[[nodiscard]] Tensor ones_like(const Tensor& x);
[[nodiscard]] Tensor full_like(const Tensor& x, Number value);
/// An empty tensor of another shape, which has x's samples along the same dim: a first hidden state
/// is zeros_like(x, {x.size(0), width}). Throws InvalidArgument where the samples do not fit.
[[nodiscard]] Tensor empty_like(const Tensor& x, const Shape& shape);
[[nodiscard]] Tensor zeros_like(const Tensor& x, const Shape& shape);
[[nodiscard]] Tensor ones_like(const Tensor& x, const Shape& shape);
[[nodiscard]] Tensor full_like(const Tensor& x, const Shape& shape, Number value);

template <class T>
Tensor from_values(std::span<const T> values, const Shape& shape) {
  check(numel_of(shape) == static_cast<std::int64_t>(values.size()),
        "from_values: wrong number of values; got ", values.size(), ", expected ", numel_of(shape),
        " for shape ", shape);
  Tensor result = empty(shape, {.dtype = dtype_of<T>});
  std::copy(values.begin(), values.end(), result.get().template data<T>());
  return result;
}

}  // namespace tessera
