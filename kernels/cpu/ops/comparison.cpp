#include <tessera/kernels/cpu/comparison.h>

#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/where.h>
#include <tessera/core/tensor/elements.h>
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

/// An input in the dtype and shape of the output, or one number for all of it.
class Chosen {
 public:
  Chosen(const TensorImpl& x, const TensorImpl& y)
      : is_number_(x.shape.empty() && !is_complex(x.dtype)),
        fits_(is_number_ || x.dtype == y.dtype),
        dense_(fits_ && !is_number_ ? x : y, y.shape) {
    if (is_number_ && y.dtype == DType::bf16) {
      half_ = convert<BFloat16>(load_as<double>(x, 0));
    } else if (is_number_) {
      number_ = load_as<float>(x, 0);
      wide_ = load_as<double>(x, 0);
    }
    dtype_ = y.dtype;
  }

  [[nodiscard]] bool fits() const { return fits_; }
  [[nodiscard]] Choice choice() const {
    if (!is_number_) {
      return {dense_.data(), 1};
    }
    const void* number = &number_;
    return {dtype_ == DType::bf16 ? &half_ : dtype_ == DType::f64 ? &wide_ : number, 0};
  }

 private:
  bool is_number_, fits_;
  DType dtype_ = DType::f32;
  DenseOperand dense_;
  float number_ = 0;
  double wide_ = 0;
  BFloat16 half_{};
};

bool where_kernel(Kernel& k, const Where::Attrs&) {
  const TensorImpl& y = k.output();
  if (!is_fast_or_f64(y)) {
    return false;
  }
  const Chosen a(k.input(1), y), b(k.input(2), y);
  if (!a.fits() || !b.fits()) {
    return false;
  }
  const DenseOperand condition(k.input(0), y.shape);
  choose(static_cast<std::int64_t>(size_of(y.dtype)),
         reinterpret_cast<const bool*>(condition.data()), a.choice(), b.choice(), bytes_of(y),
         y.numel());
  return true;
}

const RegisterKernel<Where, where_kernel> register_where{DeviceType::cpu};

}  // namespace
}  // namespace tessera::cpu
