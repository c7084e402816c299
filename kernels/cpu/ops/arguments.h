// What bindings of kernels to ops ask about their arguments.
#pragma once

#include <cstdint>
#include <vector>

#include <tessera/core/device/allocator.h>
#include <tessera/core/dispatch/op.h>
#include <tessera/kernels/cpu/gemm.h>

namespace tessera::cpu {

[[nodiscard]] inline bool is_fast(DType dtype) {
  return dtype == DType::f32 || dtype == DType::bf16;
}
/// Whether kernels that compute each dtype by itself have `dtype`.
[[nodiscard]] inline bool is_fast_or_f64(DType dtype) {
  return is_fast(dtype) || dtype == DType::f64;
}
[[nodiscard]] inline bool is_fast_or_f64(const TensorImpl& x) {
  return is_fast_or_f64(x.dtype) && x.contiguous();
}
/// Dense, row-major, f32 or bf16.
[[nodiscard]] inline bool is_fast(const TensorImpl& x) {
  return is_fast(x.dtype) && x.contiguous();
}
/// Whether `gemm` takes factors of `dtype` where products are formed in `compute`: f32 and bf16 go
/// together, f64 is alone.
[[nodiscard]] inline bool is_factor(DType dtype, DType compute) {
  return compute == DType::f64 ? dtype == compute : is_fast(compute) && is_fast(dtype);
}
/// Whether `gemm` takes `x` so: of such a dtype, and dense.
[[nodiscard]] inline bool is_factor(const TensorImpl& x, DType compute) {
  return is_factor(x.dtype, compute) && x.contiguous();
}
[[nodiscard]] inline bool is_f32(const TensorImpl& x) {
  return x.dtype == DType::f32 && x.contiguous();
}
/// True for dense numbers of one type.
template <class Number>
[[nodiscard]] bool is_dense(const TensorImpl& x) {
  return x.dtype == dtype_of<Number> && x.contiguous();
}
[[nodiscard]] inline bool is_f64(const TensorImpl& x) {
  return x.dtype == DType::f64 && x.contiguous();
}
/// Whether `x` is dense and of a dtype that kernels store whose sums are formed in f32 or f64.
[[nodiscard]] inline bool is_stored_of(const TensorImpl& x, DType sums) {
  return sums == DType::f64 ? is_f64(x) : is_fast(x);
}
/// True when that holds for all outputs.
[[nodiscard]] bool are_outputs_of(const Kernel&, DType sums);

[[nodiscard]] inline char* bytes_of(const TensorImpl& x) {
  return reinterpret_cast<char*>(x.storage->data()) +
         x.offset * static_cast<std::int64_t>(size_of(x.dtype));
}

/// Product of all dims but the last; 1 for a single number.
[[nodiscard]] std::int64_t rows_of(const TensorImpl&);

/// True when the microbatches that the kernel's sums are cut at are equal runs of rows of `x`.
[[nodiscard]] bool cuts_rows(const Kernel&, const TensorImpl& x);

/// True when `x`'s own microbatches are equal runs of its rows, or it has one only.
[[nodiscard]] bool holds_runs_of_rows(const TensorImpl& x);

/// The rows of a dense tensor as a matrix [rows_of(x), last dim].
[[nodiscard]] Matrix rows_matrix(const TensorImpl& x);

/// The elements of any tensor as a dense row-major array: itself, or a copy while this lives. One
/// kernel for every layout keeps an element's bits independent of its neighbours' addresses.
class DenseOperand {
 public:
  explicit DenseOperand(const TensorImpl& x) : DenseOperand(x, x.shape) {}
  /// Broadcast to `shape`.
  DenseOperand(const TensorImpl&, const Shape& shape);
  [[nodiscard]] const char* data() const { return data_; }

 private:
  HeldMemory copy_;
  const char* data_;
};

/// A small dense input, such as a bias, in the dtype of sums: f32 or f64 itself, or bf16 as a copy
/// in f32 while this lives.
class FloatOperand {
 public:
  FloatOperand(const Kernel&, int input);
  /// The numbers of an input of f32 or bf16; null where there is no such input.
  [[nodiscard]] const float* data() const { return static_cast<const float*>(data_); }
  /// The numbers of an input of any of the three dtypes.
  [[nodiscard]] const void* values() const { return data_; }

 private:
  HeldMemory copy_;
  const void* data_ = nullptr;
};

/// Where sums are formed: the output itself where it is f32 or f64, f32 beside one of bf16.
class FloatResult {
 public:
  /// `memory` holds at least `nbytes(output)`.
  FloatResult(const TensorImpl& output, std::byte* memory);
  [[nodiscard]] static std::size_t nbytes(const TensorImpl& output);
  /// The sums of an output of f32 or bf16.
  [[nodiscard]] float* data() const { return static_cast<float*>(data_); }
  /// The sums of an output of any of the three dtypes, in `dtype`.
  [[nodiscard]] void* values() const { return data_; }
  [[nodiscard]] DType dtype() const;
  /// Rounds the sums into the output.
  void store() const;

 private:
  const TensorImpl& output_;
  void* data_;
};

/// The workspace of a kernel whose output is a FloatResult.
template <class Attrs>
[[nodiscard]] std::size_t bytes_of_sums(const Kernel& k, const Attrs& /*any*/) {
  return FloatResult::nbytes(k.output());
}

/// Integers of any dtype and strides as a row-major array of int64.
class Indices {
 public:
  explicit Indices(const TensorImpl&);
  [[nodiscard]] const std::int64_t* data() const { return data_; }

 private:
  std::vector<std::int64_t> copy_;
  const std::int64_t* data_;
};

}  // namespace tessera::cpu
