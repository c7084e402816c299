#include <tessera/core/dispatch/run_kernel.h>

#include <tessera/core/device/backend.h>
#include <tessera/core/tensor/elements.h>

namespace tessera {
namespace {

bool any_strided_input(const Kernel& k) {
  for (int i = 0; i < k.input_count(); ++i) {
    if (k.has_input(i) && !k.input(i).contiguous()) {
      return true;
    }
  }
  return false;
}

bool any_strided_output(const Kernel& k) {
  for (int i = 0; i < k.output_count(); ++i) {
    if (!k.output(i).contiguous()) {
      return true;
    }
  }
  return false;
}

void run_dense(const OpDef& op, OpDef::KernelFunction fast, Kernel& k, const void* attrs) {
  if (fast == nullptr || !fast(k, attrs)) {
    op.reference(k, attrs);
  }
}

/// The type of device whose kernels run on `device`.
DeviceType kernels_of(const Device& device) {
  return device.is_cpu() ? device.type : backend_of(device.type).kernels_of.value_or(device.type);
}

[[nodiscard]] OpDef::KernelFunction fast_kernel(const OpDef& op, DeviceType device) {
  return op.kernels[static_cast<std::size_t>(device)];
}

/// Lets the op that users call do it: a strided operand then costs a pass over memory and no more.
void copy_elements(TensorImpl& from, TensorImpl& to) {
  static const OpDef& copy = find_op("copy");
  TensorImpl* inputs[] = {&to, &from};
  TensorImpl* outputs[] = {&to};
  Kernel k(copy.info.name, inputs, outputs);
  constexpr struct {
  } no_attrs;
  run_dense(copy, fast_kernel(copy, to.device.type), k, &no_attrs);
}

/// Operands of a call, strided ones replaced by dense memory.
class DenseOperands {
 public:
  explicit DenseOperands(const Kernel& k) {
    for (TensorImpl* x : k.inputs()) {
      inputs_.push_back(x != nullptr ? dense(*x, true) : nullptr);
    }
    for (int i = 0; i < k.output_count(); ++i) {
      outputs_.push_back(dense(k.output(i), false));
    }
  }
  [[nodiscard]] Kernel kernel(const Kernel& k) {
    Kernel copy(k.op(), {inputs_.data(), inputs_.size()}, {outputs_.data(), outputs_.size()});
    copy.set_microbatches(k.microbatch_count(), k.per_microbatch());
    return copy;
  }
  void write_back(const Kernel& k) const {
    for (int i = 0; i < k.output_count(); ++i) {
      TensorImpl& made = *outputs_[static_cast<std::size_t>(i)];
      if (&made != &k.output(i)) {
        copy_elements(made, k.output(i));
      }
    }
  }

 private:
  TensorImpl* dense(TensorImpl& x, bool filled) {
    if (x.contiguous()) {
      return &x;
    }
    Ref<TensorImpl> copy = filled ? dense_copy(x) : dense_like(x);
    copies_.push_back(std::move(copy));
    return copies_[copies_.size() - 1].get();
  }

  InlineVector<Ref<TensorImpl>, 8> copies_;
  InlineVector<TensorImpl*, 6> inputs_;
  InlineVector<TensorImpl*, 3> outputs_;
};

void run_on_copies(const OpDef& op, OpDef::KernelFunction fast, const Kernel& k,
                   const void* attrs) {
  DenseOperands operands(k);
  Kernel dense = operands.kernel(k);
  run_dense(op, fast, dense, attrs);
  operands.write_back(k);
}

/// The host's reference kernel would be at home in no other memory.
[[noreturn]] void fail_without_kernel(const OpDef& op, const Device& device, bool for_others) {
  fail<Unsupported>(op.info.name, ": there is no kernel on ", device,
                    for_others ? " for such inputs" : "",
                    "; expected tensors on cpu, which has one of every op");
}

}  // namespace

bool has_elements(const Kernel& k) {
  for (int i = 0; i < k.output_count(); ++i) {
    if (k.output(i).numel() > 0) {
      return true;
    }
  }
  return false;
}

Ref<TensorImpl> dense_like(const TensorImpl& x) {
  const auto nbytes = static_cast<std::size_t>(x.numel()) * size_of(x.dtype);
  auto like = make_ref<TensorImpl>(make_ref<Storage>(nbytes, x.device), x.shape, x.dtype, x.device);
  like->set_microbatches(x.microbatches());
  return like;
}

Ref<TensorImpl> dense_copy(TensorImpl& x) {
  Ref<TensorImpl> copy = dense_like(x);
  copy_elements(x, *copy);
  return copy;
}

void require_kernel(const OpDef& op, const Device& device) {
  const DeviceType column = kernels_of(device);
  if (column != DeviceType::cpu && fast_kernel(op, column) == nullptr) {
    fail_without_kernel(op, device, false);
  }
}

void run_kernel(const OpDef& op, Kernel& kernel, const void* attrs) {
  const Device& device = kernel.output().device;
  const auto fast = fast_kernel(op, device.type);
  if (!has_elements(kernel) || (fast != nullptr && fast(kernel, attrs))) {
    return;
  }
  if (!device.is_cpu()) {
    fail_without_kernel(op, device, fast != nullptr);
  }
  if (any_strided_output(kernel) || (fast != nullptr && any_strided_input(kernel))) {
    run_on_copies(op, fast, kernel, attrs);
  } else {
    op.reference(kernel, attrs);
  }
}

}  // namespace tessera
