// Fast elementwise kernels on contiguous arrays of f32, bf16 or f64.
#pragma once

#include <array>
#include <cstdint>

#include <tessera/core/tensor/dtype.h>
#include <tessera/core/tensor/half.h>

namespace tessera::cpu {

enum class Unary : std::uint8_t {
  exp,
  tanh,
  erf,
  sigmoid,
  relu,
  silu,
  gelu_tanh,
  gelu_erf,
  negate,
  square_root,
  absolute,
  square,
  reciprocal,
  reciprocal_square_root,
  logarithm,
  mish,
  hard_sigmoid,
  count
};
/// The larger and the smaller are nan where either is; prelu(x, slope) is x above 0, else slope x.
enum class Binary : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  maximum,
  minimum,
  prelu,
  count
};
/// Gradient of an input x from the gradient g of the output: f'(x) · g. For sigmoid and tanh x is
/// the output.
enum class UnaryBackward : std::uint8_t { relu, silu, gelu_tanh, gelu_erf, sigmoid, tanh, count };
/// Functions of one number that depend on others: clamp on low and high, elu on its factors left
/// and right of 0 and of x in the exponent, softplus on beta and threshold. nan stays.
enum class Parametric : std::uint8_t { clamp, elu, softplus, count };
using Parameters = std::array<double, 3>;

/// y[i] = f(x[i]); y may be x.
void map(Unary, DType, const void* x, void* y, std::int64_t count);
/// y[i] = f'(x[i]) · g[i]; y may be g or x.
void map_backward(UnaryBackward, DType, const void* x, const void* g, void* y, std::int64_t count);
/// y[i] = f(a[i], b[i]); y may be a or b.
void map(Binary, DType, const void* a, const void* b, void* y, std::int64_t count);
/// y[i] = f(a[i], b[i]) in f32, of f32 and bf16; y may be a.
void map_mixed(Binary, const float* a, const BFloat16* b, float* y, std::int64_t count);
/// y[r, i] = f(a[r, i], b[i]) for `rows` rows of `columns`; b is in a's dtype.
void map_rows(Binary, DType, const void* a, const void* b, void* y, std::int64_t rows,
              std::int64_t columns);
/// y[p, i] = f(a[p, i], b[p % period]) for `planes` of `columns`; b is in a's dtype.
void map_planes(Binary, DType, const void* a, const void* b, void* y, std::int64_t planes,
                std::int64_t columns, std::int64_t period);
/// y[i] = f(a[i], b), rounded once; b is in a's dtype, or f32 beside bf16.
void map_scalar(Binary, DType, const void* a, double b, void* y, std::int64_t count);
/// y[i] = f(x[i]; p); y may be x.
void map(Parametric, const Parameters& p, DType, const void* x, void* y, std::int64_t count);
/// Converts between f32 and bf16.
void cast(DType from, const void* x, DType to, void* y, std::int64_t count);

}  // namespace tessera::cpu
