#include <tessera/core/ops/comparison.h>

#include <tessera/core/tensor/elements.h>
#include <tessera/kernels/cpu/comparison.h>
#include <tessera/kernels/cpu/ops/arguments.h>

namespace tessera::cpu {
namespace {

/// Tensors of one shape and dtype, or a tensor and a number.
template <class Op, Comparison f>
bool kernel(Kernel& k, const typename Op::Attrs&) {
  const TensorImpl& a = k.input(0);
  const TensorImpl& b = k.input(1);
  const TensorImpl& y = k.output();
  if (!is_fast(a.dtype) || a.shape != y.shape || !y.contiguous()) {
    return false;
  }
  if (b.numel() == 1 && b.shape.empty() && !is_complex(b.dtype)) {
    compare_with(f, a.dtype, DenseOperand(a).data(), load_as<double>(b, 0), y.data<bool>(),
                 y.numel());
    return true;
  }
  if (b.dtype != a.dtype || b.shape != a.shape) {
    return false;
  }
  compare(f, a.dtype, DenseOperand(a).data(), DenseOperand(b).data(), y.data<bool>(), y.numel());
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
