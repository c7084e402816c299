#include <tessera/core/dispatch/kernel_job.h>

#include <tessera/core/device/backend.h>
#include <tessera/core/dispatch/run_kernel.h>

namespace tessera {
namespace {

/// Storage at the same address that owns nothing.
Ref<Storage> address_of(const Storage& storage) {
  return make_ref<Storage>(storage.data(), storage.nbytes(), storage.device(), nullptr);
}

Ref<TensorImpl> snapshot(TensorImpl& x) {
  if (x.device.is_cpu()) {
    return dense_copy(x);
  }
  auto copy = make_ref<TensorImpl>(address_of(*x.storage), x.shape, x.dtype, x.device);
  copy->strides = x.strides;
  copy->offset = x.offset;
  copy->set_microbatches(x.microbatches());
  return copy;
}

}  // namespace

KernelJob::KernelJob(const OpDef& op, const Kernel& kernel, const void* attrs)
    : op_(&op),
      attrs_(*op.attrs, attrs),
      microbatch_count_(kernel.microbatch_count()),
      per_microbatch_(kernel.per_microbatch()),
      input_count_(static_cast<std::size_t>(kernel.input_count())) {
  for (TensorImpl* x : kernel.inputs()) {
    operands_.push_back(x != nullptr ? snapshot(*x) : Ref<TensorImpl>());
  }
  for (int i = 0; i < kernel.output_count(); ++i) {
    operands_.push_back(snapshot(kernel.output(i)));
  }
}

void KernelJob::run() {
  InlineVector<TensorImpl*, 8> all;
  for (const Ref<TensorImpl>& x : operands()) {
    all.push_back(x.get());
  }
  const std::span<TensorImpl* const> operands(all.data(), all.size());
  Kernel kernel(op(), operands.first(input_count_), operands.subspan(input_count_));
  kernel.set_microbatches(microbatch_count_, per_microbatch_);
  run_kernel(*op_, kernel, attrs_.get());
}

}  // namespace tessera
