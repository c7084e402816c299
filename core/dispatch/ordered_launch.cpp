#include <tessera/core/dispatch/ordered_launch.h>

#include <memory>

#include <tessera/core/device/hazards.h>
#include <tessera/core/dispatch/run_kernel.h>

namespace tessera {
namespace {

using Operands = InlineVector<TensorImpl*, 6>;

/// What the kernel sees of a tensor. A copy, because the host goes on to change the tensor itself
/// (its place on the tape, its microbatches) while the kernel runs.
Ref<TensorImpl> snapshot(const TensorImpl& x) {
  auto copy = make_ref<TensorImpl>(x.storage, x.shape, x.dtype, x.device);
  copy->strides = x.strides;
  copy->offset = x.offset;
  copy->set_microbatches(x.microbatches());
  return copy;
}

/// A kernel that waits for its turn, with everything it refers to.
class Job {
 public:
  Job(const OpDef& op, const Kernel& kernel, const void* attrs)
      : op_(op),
        attrs_(*op.attrs, attrs),
        microbatch_count_(kernel.microbatch_count()),
        per_microbatch_(kernel.per_microbatch()) {
    for (int i = 0; i < kernel.input_count(); ++i) {
      add(kernel.has_input(i) ? &kernel.input(i) : nullptr, inputs_);
    }
    for (int i = 0; i < kernel.output_count(); ++i) {
      add(&kernel.output(i), outputs_);
    }
  }

  void run() {
    Kernel kernel(op_.info.name, {inputs_.data(), inputs_.size()},
                  {outputs_.data(), outputs_.size()});
    kernel.set_microbatches(microbatch_count_, per_microbatch_);
    run_kernel(op_, kernel, attrs_.get());
  }

 private:
  void add(const TensorImpl* x, Operands& to) {
    held_.push_back(x != nullptr ? snapshot(*x) : Ref<TensorImpl>());
    to.push_back(held_[held_.size() - 1].get());
  }

  const OpDef& op_;
  AttrsBox attrs_;
  std::int32_t microbatch_count_;
  bool per_microbatch_;
  Operands inputs_;
  Operands outputs_;
  InlineVector<Ref<TensorImpl>, 8> held_;
};

template <class Read, class Write>
void for_each_storage(const Kernel& kernel, const Read& read, const Write& write) {
  for (int i = 0; i < kernel.input_count(); ++i) {
    if (kernel.has_input(i) && kernel.input(i).storage) {
      read(*kernel.input(i).storage);
    }
  }
  for (int i = 0; i < kernel.output_count(); ++i) {
    write(*kernel.output(i).storage);
  }
}

}  // namespace

void launch_ordered(const OpDef& op, const Kernel& kernel, const void* attrs) {
  Stream& stream = Stream::current();
  for_each_storage(
      kernel, [&](Storage& storage) { before_read(stream, storage); },
      [&](Storage& storage) { before_write(stream, storage); });
  const auto job = std::make_shared<Job>(op, kernel, attrs);
  const Event done = stream.launch([job] { job->run(); });
  for_each_storage(
      kernel, [&](Storage& storage) { after_read(stream, storage, done); },
      [&](Storage& storage) { after_write(stream, storage, done); });
}

}  // namespace tessera
