// Elementwise ops without attributes, each with the function that computes it.
#include <tessera/core/ops/abs.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/ops/erf.h>
#include <tessera/core/ops/exp.h>
#include <tessera/core/ops/hardsigmoid.h>
#include <tessera/core/ops/log.h>
#include <tessera/core/ops/maximum.h>
#include <tessera/core/ops/minimum.h>
#include <tessera/core/ops/mish.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/neg.h>
#include <tessera/core/ops/prelu.h>
#include <tessera/core/ops/relu.h>
#include <tessera/core/ops/relu_backward.h>
#include <tessera/core/ops/rsqrt.h>
#include <tessera/core/ops/sigmoid.h>
#include <tessera/core/ops/sigmoid_backward.h>
#include <tessera/core/ops/silu.h>
#include <tessera/core/ops/silu_backward.h>
#include <tessera/core/ops/sqrt.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/tanh.h>
#include <tessera/core/ops/tanh_backward.h>
#include <tessera/kernels/cpu/ops/elementwise.h>

namespace tessera::cpu {
namespace {

template <class Op, Unary f>
bool unary_kernel(Kernel& k, const typename Op::Attrs& /*none*/) {
  return run_unary(k, f);
}
template <class Op, UnaryGradient f>
bool gradient_kernel(Kernel& k, const typename Op::Attrs& /*none*/) {
  return run_gradient(k, f);
}
template <class Op, Binary f>
bool binary_kernel(Kernel& k, const typename Op::Attrs& /*none*/) {
  return run_binary(k, f);
}

template <class Op, Unary f>
using UnaryOp = RegisterKernel<Op, unary_kernel<Op, f>>;
const UnaryOp<Abs, Unary::absolute> register_abs{DeviceType::cpu};
const UnaryOp<Erf, Unary::erf> register_erf{DeviceType::cpu};
const UnaryOp<Exp, Unary::exp> register_exp{DeviceType::cpu};
const UnaryOp<Hardsigmoid, Unary::hard_sigmoid> register_hardsigmoid{DeviceType::cpu};
const UnaryOp<Log, Unary::logarithm> register_log{DeviceType::cpu};
const UnaryOp<Mish, Unary::mish> register_mish{DeviceType::cpu};
const UnaryOp<Neg, Unary::negate> register_neg{DeviceType::cpu};
const UnaryOp<Relu, Unary::relu> register_relu{DeviceType::cpu};
const UnaryOp<Rsqrt, Unary::reciprocal_square_root> register_rsqrt{DeviceType::cpu};
const UnaryOp<Sigmoid, Unary::sigmoid> register_sigmoid{DeviceType::cpu};
const UnaryOp<Silu, Unary::silu> register_silu{DeviceType::cpu};
const UnaryOp<Sqrt, Unary::square_root> register_sqrt{DeviceType::cpu};
const UnaryOp<Tanh, Unary::tanh> register_tanh{DeviceType::cpu};

template <class Op, UnaryGradient f>
using GradientOp = RegisterKernel<Op, gradient_kernel<Op, f>>;
const GradientOp<ReluBackward, UnaryGradient::relu> register_relu_gradient{DeviceType::cpu};
const GradientOp<SigmoidBackward, UnaryGradient::sigmoid> register_sigmoid_gradient{
    DeviceType::cpu};
const GradientOp<SiluBackward, UnaryGradient::silu> register_silu_gradient{DeviceType::cpu};
const GradientOp<TanhBackward, UnaryGradient::tanh> register_tanh_gradient{DeviceType::cpu};

template <class Op, Binary f>
using BinaryOp = RegisterKernel<Op, binary_kernel<Op, f>>;
const BinaryOp<Add, Binary::add> register_add{DeviceType::cpu};
const BinaryOp<Div, Binary::divide> register_div{DeviceType::cpu};
const BinaryOp<Maximum, Binary::maximum> register_maximum{DeviceType::cpu};
const BinaryOp<Minimum, Binary::minimum> register_minimum{DeviceType::cpu};
const BinaryOp<Mul, Binary::multiply> register_mul{DeviceType::cpu};
const BinaryOp<Prelu, Binary::prelu> register_prelu{DeviceType::cpu};
const BinaryOp<Sub, Binary::subtract> register_sub{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
