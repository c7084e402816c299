// What many ops ask of their inputs and attributes, worded once.
#pragma once

#include <type_traits>

#include <tessera/core/tensor/tensor.h>

namespace tessera {

/// Throws `E`, naming `op`, unless `fits`: `what` has dtype `got`, and the op takes `expected`.
template <class E = InvalidArgument>
void check_dtype(bool fits, const char* op, const char* what, DType got, const char* expected) {
  check<E>(fits, op, ": wrong dtype of ", what, "; got ", got, ", expected ", expected);
}

inline void check_floating(const char* op, const char* what, DType dtype) {
  check_dtype(is_floating(dtype), op, what, dtype, "f16, bf16, f32 or f64");
}

inline void check_differentiable(const char* op, const char* what, DType dtype) {
  check_dtype(is_differentiable(dtype), op, what, dtype, "a floating or complex one");
}

inline void check_integer(const char* op, const char* what, DType dtype) {
  check_dtype(is_integral(dtype) && dtype != DType::boolean, op, what, dtype,
              "u8, i8, i16, i32 or i64");
}

inline void check_i64(const char* op, const char* what, DType dtype) {
  check_dtype(dtype == DType::i64, op, what, dtype, "i64");
}

/// Throws TypeError for f64 that would be narrowed to go with values of dtype `beside`: nobody
/// asked for that, and PyTorch refuses it too.
inline void check_not_narrowed(const char* op, const char* what, DType got, DType beside) {
  check<TypeError>(got != DType::f64 || beside == DType::f64 || !is_floating(beside), op,
                   ": wrong dtype of ", what, "; got f64 beside ", beside, ", expected ", beside,
                   ", as cast(", what, ", DType::", beside, ") makes it");
}

/// Bools are welcome.
template <class E = InvalidArgument>
void check_real(const char* op, const char* what, DType dtype) {
  check_dtype<E>(!is_complex(dtype), op, what, dtype, "a real one");
}

template <class E = InvalidArgument>
void check_real_number(const char* op, const char* what, DType dtype) {
  check_dtype<E>(!is_complex(dtype) && dtype != DType::boolean, op, what, dtype,
                 "an integer or floating one");
}

/// Throws InvalidArgument, naming `op`, unless `what` has the shape `expected`.
inline void check_shape(const char* op, const char* what, const Shape& got, const Shape& expected) {
  check(got == expected, op, ": wrong shape of ", what, "; got ", got, ", expected ", expected);
}

/// Checks a shape of which only some is laid down, as `expected` says in words.
inline void check_layout(bool fits, const char* op, const char* what, const Shape& got,
                         const char* expected) {
  check(fits, op, ": wrong shape of ", what, "; got ", got, ", expected ", expected);
}

inline void check_has_dims(const char* op, const Shape& x) {
  check_layout(!x.empty(), op, "x", x, "at least one dim");
}

inline void check_dense(const char* op, const Tensor& x) {
  check(x.is_contiguous(), op, ": wrong strides; got ", x.strides(), " for shape ", x.shape(),
        ", expected those of dense memory");
}

/// Throws InvalidArgument, naming `op`, for a number below `least` and for NaN.
template <class T>
void check_at_least(const char* op, const char* what, T got, std::type_identity_t<T> least) {
  check(got >= least, op, ": ", what, " out of range; got ", got, ", expected at least ", least);
}

inline void check_probability(const char* op, const char* what, double got) {
  check(got >= 0 && got <= 1, op, ": ", what, " out of range; got ", got,
        ", expected one in [0, 1]");
}

}  // namespace tessera
