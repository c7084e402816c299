// Elementwise ops, each with the function that computes it.
#include <tessera/kernels/cpu/elementwise.h>

#include <tessera/core/ops/abs.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/clamp.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/ops/elu.h>
#include <tessera/core/ops/erf.h>
#include <tessera/core/ops/exp.h>
#include <tessera/core/ops/gelu.h>
#include <tessera/core/ops/gelu_backward.h>
#include <tessera/core/ops/hardsigmoid.h>
#include <tessera/core/ops/log.h>
#include <tessera/core/ops/maximum.h>
#include <tessera/core/ops/minimum.h>
#include <tessera/core/ops/mish.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/neg.h>
#include <tessera/core/ops/pow.h>
#include <tessera/core/ops/prelu.h>
#include <tessera/core/ops/relu.h>
#include <tessera/core/ops/relu_backward.h>
#include <tessera/core/ops/rsqrt.h>
#include <tessera/core/ops/sigmoid.h>
#include <tessera/core/ops/sigmoid_backward.h>
#include <tessera/core/ops/silu.h>
#include <tessera/core/ops/silu_backward.h>
#include <tessera/core/ops/softplus.h>
#include <tessera/core/ops/sqrt.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/tanh.h>
#include <tessera/core/ops/tanh_backward.h>
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

/// Inputs: the gradient, and what the slope is a function of, broadcast.
bool run_map(Kernel& k, UnaryBackward f) {
  const TensorImpl& g = k.input(0);
  const TensorImpl& x = k.input(1);
  const TensorImpl& y = k.output();
  if (!is_fast_or_f64(y) || g.dtype != y.dtype || x.dtype != y.dtype) {
    return false;
  }
  map_backward(f, y.dtype, DenseOperand(x, y.shape).data(), DenseOperand(g, y.shape).data(),
               bytes_of(y), y.numel());
  return true;
}

/// Operands of the output's dtype, broadcast, or the second one a single number.
bool run_map(Kernel& k, Binary f) {
  if (!is_fast_or_f64(k.output())) {
    return false;
  }
  const bool commutes = f == Binary::add || f == Binary::multiply;
  return run_ordered(k, f, k.input(0), k.input(1)) ||
         (commutes && run_ordered(k, f, k.input(1), k.input(0))) || run_copied(k, f);
}

template <class Op, auto f>
bool elementwise_kernel(Kernel& k, const typename Op::Attrs& /*none*/) {
  return run_map(k, f);
}
template <class Op, auto f>
using Elementwise = RegisterKernel<Op, elementwise_kernel<Op, f>>;

const Elementwise<Abs, Unary::absolute> register_abs{DeviceType::cpu};
const Elementwise<Erf, Unary::erf> register_erf{DeviceType::cpu};
const Elementwise<Exp, Unary::exp> register_exp{DeviceType::cpu};
const Elementwise<Hardsigmoid, Unary::hard_sigmoid> register_hardsigmoid{DeviceType::cpu};
const Elementwise<Log, Unary::logarithm> register_log{DeviceType::cpu};
const Elementwise<Mish, Unary::mish> register_mish{DeviceType::cpu};
const Elementwise<Neg, Unary::negate> register_neg{DeviceType::cpu};
const Elementwise<Relu, Unary::relu> register_relu{DeviceType::cpu};
const Elementwise<Rsqrt, Unary::reciprocal_square_root> register_rsqrt{DeviceType::cpu};
const Elementwise<Sigmoid, Unary::sigmoid> register_sigmoid{DeviceType::cpu};
const Elementwise<Silu, Unary::silu> register_silu{DeviceType::cpu};
const Elementwise<Sqrt, Unary::square_root> register_sqrt{DeviceType::cpu};
const Elementwise<Tanh, Unary::tanh> register_tanh{DeviceType::cpu};

const Elementwise<ReluBackward, UnaryBackward::relu> register_relu_backward{DeviceType::cpu};
const Elementwise<SigmoidBackward, UnaryBackward::sigmoid> register_sigmoid_backward{
    DeviceType::cpu};
const Elementwise<SiluBackward, UnaryBackward::silu> register_silu_backward{DeviceType::cpu};
const Elementwise<TanhBackward, UnaryBackward::tanh> register_tanh_backward{DeviceType::cpu};

const Elementwise<Add, Binary::add> register_add{DeviceType::cpu};
const Elementwise<Div, Binary::divide> register_div{DeviceType::cpu};
const Elementwise<Maximum, Binary::maximum> register_maximum{DeviceType::cpu};
const Elementwise<Minimum, Binary::minimum> register_minimum{DeviceType::cpu};
const Elementwise<Mul, Binary::multiply> register_mul{DeviceType::cpu};
const Elementwise<Prelu, Binary::prelu> register_prelu{DeviceType::cpu};
const Elementwise<Sub, Binary::subtract> register_sub{DeviceType::cpu};

bool gelu_kernel(Kernel& k, const Gelu::Attrs& attrs) {
  return run_map(k, attrs.tanh_form ? Unary::gelu_tanh : Unary::gelu_erf);
}
bool gelu_backward_kernel(Kernel& k, const GeluBackward::Attrs& attrs) {
  return run_map(k, attrs.tanh_form ? UnaryBackward::gelu_tanh : UnaryBackward::gelu_erf);
}

const RegisterKernel<Gelu, gelu_kernel> register_gelu{DeviceType::cpu};
const RegisterKernel<GeluBackward, gelu_backward_kernel> register_gelu_backward{DeviceType::cpu};

bool clamp_kernel(Kernel& k, const Clamp::Attrs& attrs) {
  return run_map(k, Parametric::clamp, Parameters{attrs.low.real(), attrs.high.real()});
}

const RegisterKernel<Clamp, clamp_kernel> register_clamp{DeviceType::cpu};

bool elu_kernel(Kernel& k, const Elu::Attrs& attrs) {
  if (attrs.input_scale < 0) {
    return false;
  }
  return run_map(k, Parametric::elu,
                 Parameters{attrs.alpha * attrs.scale, attrs.scale, attrs.input_scale});
}

const RegisterKernel<Elu, elu_kernel> register_elu{DeviceType::cpu};

bool softplus_kernel(Kernel& k, const Softplus::Attrs& attrs) {
  return run_map(k, Parametric::softplus, Parameters{attrs.beta, attrs.threshold});
}

const RegisterKernel<Softplus, softplus_kernel> register_softplus{DeviceType::cpu};

/// Squares and reciprocals, whose bits are those of the power.
bool pow_kernel(Kernel& k, const Pow::Attrs&) {
  const TensorImpl& x = k.input(0);
  const TensorImpl& exponent = k.input(1);
  const TensorImpl& y = k.output();
  if (!is_fast_or_f64(y) || x.dtype != y.dtype || x.shape != y.shape || exponent.numel() != 1 ||
      is_complex(exponent.dtype)) {
    return false;
  }
  const auto power = load_as<double>(exponent, 0);
  if (power != 2 && power != -1) {
    return false;
  }
  map(power == 2 ? Unary::square : Unary::reciprocal, x.dtype, DenseOperand(x).data(), bytes_of(y),
      y.numel());
  return true;
}

const RegisterKernel<Pow, pow_kernel> register_pow{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
