#include <tessera/core/ops/comparison.h>

#include <tessera/core/tensor/elements.h>
#include <tessera/kernels/cpu/comparison.h>
#include <tessera/kernels/cpu/ops/arguments.h>

namespace tessera::cpu {
namespace {

/// What `dtype` holds of a number.
double number_in(const TensorImpl& x, DType dtype) {
  if (dtype == DType::f64) {
    return load_as<double>(x, 0);
  }
  const auto value = load_as<float>(x, 0);
  return dtype == DType::bf16 ? static_cast<float>(BFloat16(value)) : value;
}

/// Tensors of one dtype, broadcast, or a tensor and a number.
template <class Op, Comparison f>
bool kernel(Kernel& k, const typename Op::Attrs&) {
  const TensorImpl& a = k.input(0);
  const TensorImpl& b = k.input(1);
  const TensorImpl& y = k.output();
  if (!is_fast_or_f64(a.dtype) || !y.contiguous() || promoted_dtype(k) != a.dtype) {
    return false;
  }
  const DenseOperand left(a, y.shape);
  if (b.shape.empty() && !is_complex(b.dtype)) {
    compare_with(f, a.dtype, left.data(), number_in(b, a.dtype), y.data<bool>(), y.numel());
    return true;
  }
  if (b.dtype != a.dtype) {
    return false;
  }
  compare(f, a.dtype, left.data(), DenseOperand(b, y.shape).data(), y.data<bool>(), y.numel());
  return true;
}

template <class Op, Comparison f>
using Registered = RegisterKernel<Op, kernel<Op, f>>;

const Registered<Eq, Comparison::equal> eq{DeviceType::cpu};
const Registered<Ne, Comparison::not_equal> ne{DeviceType::cpu};
const Registered<Lt, Comparison::less> lt{DeviceType::cpu};
const Registered<Le, Comparison::less_or_equal> le{DeviceType::cpu};
const Registered<Gt, Comparison::greater> gt{DeviceType::cpu};
const Registered<Ge, Comparison::greater_or_equal> ge{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
