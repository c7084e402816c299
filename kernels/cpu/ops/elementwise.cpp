#include <tessera/kernels/cpu/ops/elementwise.h>

#include <tessera/core/tensor/elements.h>
#include <tessera/kernels/cpu/ops/arguments.h>

namespace tessera::cpu {
namespace {

/// True when `b` has the last dims of `a`, so that it repeats for every row of them.
bool repeats(const TensorImpl& a, const TensorImpl& b) {
  const int offset = a.shape.size() - b.shape.size();
  bool same = offset >= 0;
  for (int d = 0; same && d < b.shape.size(); ++d) {
    same = a.shape[d + offset] == b.shape[d];
  }
  return same;
}

/// How many elements of `a` lie behind one another for each of `b`, which has the dims of `a` up to
/// some dim and 1 behind it; 0 for other shapes.
std::int64_t plane_size(const TensorImpl& a, const TensorImpl& b) {
  const int offset = a.shape.size() - b.shape.size();
  int d = 0;
  while (offset >= 0 && d < b.shape.size() && a.shape[d + offset] == b.shape[d]) {
    ++d;
  }
  std::int64_t size = 1;
  for (int rest = d; rest < b.shape.size(); ++rest) {
    size *= b.shape[rest] == 1 ? a.shape[rest + offset] : 0;
  }
  return offset < 0 || d == 0 ? 0 : size;
}

bool run_ordered(Kernel& k, Binary f, const TensorImpl& a, const TensorImpl& b) {
  const TensorImpl& y = k.output();
  if (a.dtype != y.dtype || !is_fast_or_f64(a) || a.shape != y.shape) {
    return false;
  }
  if (b.numel() == 1 && a.numel() != 1) {
    const bool real = !is_complex(b.dtype);
    if (real) {
      const double number = y.dtype == DType::f64 ? load_as<double>(b, 0) : load_as<float>(b, 0);
      map_scalar(f, y.dtype, bytes_of(a), number, bytes_of(y), y.numel());
    }
    return real;
  }
  if (y.dtype == DType::f32 && b.dtype == DType::bf16 && b.contiguous() && a.shape == b.shape) {
    map_mixed(f, a.data<float>(), b.data<BFloat16>(), y.data<float>(), y.numel());
    return true;
  }
  if (b.dtype != y.dtype || !b.contiguous()) {
    return false;
  }
  constexpr std::int64_t kSmallestPlane = 16;  // below it one copy of b costs less
  if (const std::int64_t plane = plane_size(a, b); plane >= kSmallestPlane) {
    map_planes(f, y.dtype, bytes_of(a), bytes_of(b), bytes_of(y), a.numel() / plane, plane,
               b.numel());
    return true;
  }
  if (!repeats(a, b)) {
    return false;
  }
  if (a.shape.size() == b.shape.size()) {
    map(f, y.dtype, bytes_of(a), bytes_of(b), bytes_of(y), y.numel());
  } else if (b.numel() > 0) {
    map_rows(f, y.dtype, bytes_of(a), bytes_of(b), bytes_of(y), a.numel() / b.numel(), b.numel());
  }
  return true;
}

/// Any layout: operands that are not the output's shape, dense, are copied to it.
bool run_copied(Kernel& k, Binary f) {
  const TensorImpl& a = k.input(0);
  const TensorImpl& b = k.input(1);
  const TensorImpl& y = k.output();
  if (a.dtype != y.dtype || b.dtype != y.dtype) {
    return false;
  }
  map(f, y.dtype, DenseOperand(a, y.shape).data(), DenseOperand(b, y.shape).data(), bytes_of(y),
      y.numel());
  return true;
}

/// `function`, and what more it takes, of every element of the input.
template <class... Function>
bool run_map(Kernel& k, const Function&... function) {
  const TensorImpl& x = k.input();
  const TensorImpl& y = k.output();
  if (!is_fast_or_f64(y) || x.dtype != y.dtype) {
    return false;
  }
  map(function..., x.dtype, DenseOperand(x).data(), bytes_of(y), x.numel());
  return true;
}

}  // namespace

bool run_unary(Kernel& k, Unary f) {
  return run_map(k, f);
}

bool run_parametric(Kernel& k, Parametric f, const Parameters& p) {
  return run_map(k, f, p);
}

bool run_gradient(Kernel& k, UnaryGradient f) {
  const TensorImpl& g = k.input(0);
  const TensorImpl& x = k.input(1);
  const TensorImpl& y = k.output();
  if (!is_fast_or_f64(y) || g.dtype != y.dtype || x.dtype != y.dtype) {
    return false;
  }
  map_gradient(f, y.dtype, DenseOperand(x, y.shape).data(), DenseOperand(g, y.shape).data(),
               bytes_of(y), y.numel());
  return true;
}

bool run_binary(Kernel& k, Binary f) {
  if (!is_fast_or_f64(k.output())) {
    return false;
  }
  const bool commutes = f == Binary::add || f == Binary::multiply;
  return run_ordered(k, f, k.input(0), k.input(1)) ||
         (commutes && run_ordered(k, f, k.input(1), k.input(0))) || run_copied(k, f);
}

}  // namespace tessera::cpu
