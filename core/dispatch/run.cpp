#include <tessera/core/dispatch/run.h>

#include <tessera/core/base/trace.h>
#include <tessera/core/device/memory_stats.h>
#include <tessera/core/dispatch/ordered_launch.h>
#include <tessera/core/dispatch/run_kernel.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/core/tensor/overlap.h>
#include <tessera/core/tensor/view.h>

namespace tessera {
namespace {

bool is_meta(const Tensor& x) {
  return x.device().type == DeviceType::meta;
}

bool on_several_devices(std::span<const TensorRef> inputs) {
  const Device* first = nullptr;
  for (const Tensor& x : inputs) {
    if (x.defined()) {
      const Device& device = x.impl()->device;
      if (first != nullptr && *first != device) {
        return true;
      }
      first = &device;
    }
  }
  return false;
}

/// Inputs lie on one device; elementwise ops check this themselves, since they take numbers from
/// anywhere. Tensors without elements go with those of any device, so that a forward that runs
/// without elements may make tensors of its own, and then the results have none either.
void settle_devices(const OpDef& op, std::span<const TensorRef> inputs, Infer& infer) {
  bool without_elements = false;
  for (const Tensor& x : inputs) {
    if (!x.defined() || x.device() == inputs[0]->device()) {
      continue;
    }
    without_elements |= is_meta(x) || is_meta(inputs[0]);
    check(op.info.elementwise || without_elements, op.info.name,
          ": inputs on different devices; got ", inputs[0]->device(), " and ", x.device(),
          ", expected one device");
  }
  if (without_elements) [[unlikely]] {
    for (OutputSpec& spec : infer.outputs()) {
      spec.device = {.type = DeviceType::meta};
    }
  }
}

Tensor make_output(const Call& call, const OutputSpec& spec, int index) {
  const OpDef& op = call.op;
  const std::size_t nbytes = nbytes_of(op.info.name, spec.shape, size_of(spec.dtype));
  Ref<Storage> storage;
  if (op.info.view) {
    storage = call.inputs[0]->get().storage;
  } else if (spec.device.type != DeviceType::meta) {
    storage = make_ref<Storage>(nbytes, spec.device, category_of_results());
  }
  auto impl = make_ref<TensorImpl>(std::move(storage), spec.shape, spec.dtype, spec.device);
  impl->inference = Modes::current().inference;
  if (op.info.view) {
    const TensorImpl& x = call.inputs[0]->get();
    impl->strides = x.strides;
    impl->offset = x.offset;
    op.alias(x, *impl, index, call.attrs);
    link_view(*impl, call.inputs[0]->impl());
  }
  impl->set_microbatches(spec.microbatches);
  return Tensor(std::move(impl));
}

/// True when tensors that are no inputs of the call show the destination's memory.
bool others_show(const Tensor& destination, std::span<const TensorRef> inputs) {
  std::uint32_t known = 1;
  for (const Tensor& x : inputs) {
    known += x.defined() && !x.is(destination) && x.shares_storage(destination) ? 1 : 0;
  }
  return destination.get().storage && destination.get().storage->use_count() > known;
}

void check_fits(const char* op, const Tensor& destination, const OutputSpec& spec,
                std::span<const TensorRef> inputs) {
  const bool fits = destination.shape() == spec.shape && destination.dtype() == spec.dtype;
  if (!fits && destination.microbatches().per_microbatch != spec.microbatches.per_microbatch) {
    fail_on_other_borders(op);
  }
  check(fits, op, ": the destination does not fit; got ", destination.shape(), " ",
        destination.dtype(), ", expected ", spec.shape, " ", spec.dtype);
  check<NotImplementedError>(is_meta(destination) || spec.device.type != DeviceType::meta, op,
                             ": a meta tensor has no elements; got one that is to be written to a "
                             "tensor on ",
                             destination.device());
  check(is_meta(destination) || destination.device() == spec.device, op,
        ": the destination lies elsewhere; got ", destination.device(), ", expected ", spec.device);
  // Whoever shows the same memory would not know that it holds several microbatches now.
  if (destination.microbatches() != spec.microbatches && others_show(destination, inputs)) {
    fail_on_microbatches(op, "writes several microbatches into memory that other tensors show");
  }
}

void check_elements_writable(const char* op, const TensorImpl& x) {
  check<RuntimeError>(!repeats_elements(x), op,
                      ": several elements of the destination share memory; got ", x.shape,
                      " with strides ", x.strides);
  check<RuntimeError>(!x.read_only, op,
                      ": a forward writes to a buffer in place in a step of several microbatches, "
                      "each of which reads the value from before the step; assign its next value");
}

using Operands = InlineVector<TensorImpl*, 6>;
using Copies = InlineVector<Ref<TensorImpl>, 1>;

/// In line, since every op passes here.
inline void launch_kernel(const OpDef& op, Kernel& kernel, std::span<TensorImpl* const> inputs,
                          std::span<TensorImpl* const> outputs, const void* attrs) {
  if (needs_order(inputs, outputs)) [[unlikely]] {
    launch_ordered(op, kernel, attrs);
  } else {
    run_kernel(op, kernel, attrs);
  }
}

Ref<TensorImpl> copy_of(TensorImpl& x) {
  static const OpDef& copy = find_op("copy");
  Ref<TensorImpl> to = dense_like(x);
  TensorImpl* inputs[] = {to.get(), &x};
  TensorImpl* outputs[] = {to.get()};
  Kernel kernel(copy.info.name, inputs, outputs);
  constexpr struct {
  } no_attrs;
  launch_kernel(copy, kernel, inputs, outputs, &no_attrs);
  return to;
}

/// Puts copies in place of inputs that share memory with `destinations`, but not their elements;
/// they live as long as what is returned.
Copies copy_torn(std::span<const TensorRef> inputs, Operands& operands,
                 const Outputs& destinations) {
  const OverlapFinder written({destinations.data(), destinations.size()});
  Copies copies;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]->defined() && written.worst_with(inputs[i]) == Overlap::partial) {
      operands[i] = copies.emplace_back(copy_of(*operands[i])).get();
    }
  }
  return copies;
}

}  // namespace

Infer infer_outputs(const Call& call) {
  Infer infer(call.op.info.name, call.inputs);
  call.op.infer(infer, call.attrs);
  if (on_several_devices(call.inputs)) [[unlikely]] {
    settle_devices(call.op, call.inputs, infer);
  }
  if (call.split != nullptr) [[unlikely]] {
    call.split->apply(infer);
  }
  return infer;
}

Outputs prepare_outputs(Call& call, std::span<const OutputSpec> specs) {
  Outputs destinations;
  call.outputs.resize(specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    Tensor& output = call.outputs[i];
    if (output.defined()) [[unlikely]] {
      check_fits(call.op.info.name, output, specs[i], call.inputs);
      check_elements_writable(call.op.info.name, output.get());
      destinations.push_back(output);
    } else {
      output = make_output(call, specs[i], static_cast<int>(i));
    }
  }
  return destinations;
}

void mark_outputs(const Call& call, std::span<const OutputSpec> specs) {
  for (std::size_t i = 0; i < specs.size(); ++i) {
    call.outputs[i].get().set_microbatches(specs[i].microbatches);
  }
}

void launch(const Call& call, const Outputs& destinations) {
  if (call.op.info.view || is_meta(call.outputs[0])) {
    return;
  }
  const TraceRange trace(call.op.info.name, "op");
  Operands inputs;
  for (const Tensor& x : call.inputs) {
    inputs.push_back(x.impl().get());
  }
  Copies copies;
  if (!destinations.empty()) [[unlikely]] {
    copies = copy_torn(call.inputs, inputs, destinations);
  }
  InlineVector<TensorImpl*, 3> outputs;
  for (const Tensor& y : call.outputs) {
    outputs.push_back(y.impl().get());
  }
  const std::span<TensorImpl* const> in(inputs.data(), inputs.size());
  const std::span<TensorImpl* const> out(outputs.data(), outputs.size());
  Kernel kernel(call.op.info.name, in, out);
  if (call.split != nullptr) [[unlikely]] {
    kernel.set_microbatches(call.split->summed_microbatches, call.split->per_microbatch);
  }
  launch_kernel(call.op, kernel, in, out, call.attrs);
  for (const Tensor& y : destinations) {
    y.get().storage->bump_version();
  }
}

void run(Call& call) {
  const Infer infer = infer_outputs(call);
  const Outputs destinations = prepare_outputs(call, infer.outputs());
  if (!destinations.empty()) {
    mark_outputs(call, infer.outputs());
  }
  launch(call, destinations);
}

}  // namespace tessera
