#include <tessera/core/dispatch/call.h>

#include <tessera/core/autograd/modes.h>
#include <tessera/core/autograd/record.h>
#include <tessera/core/dispatch/cut_stage.h>
#include <tessera/core/dispatch/ordered_launch.h>

namespace tessera {
namespace {

struct Traits {
  bool any_cut = false;
  bool any_gradient = false;
};

Traits traits_of(std::span<const TensorRef> inputs) {
  Traits traits;
  for (const Tensor& x : inputs) {
    if (x.defined()) {
      traits.any_cut |= static_cast<bool>(x.impl()->cut);
      traits.any_gradient |= x.requires_grad();
    }
  }
  return traits;
}

void check_destination(const char* op, const Tensor& destination, const OutputSpec& spec) {
  check(!Modes::current().record || !destination.is_leaf() || !destination.requires_grad(), op,
        ": a leaf that requires a gradient cannot be changed in place");
  check(destination.shape() == spec.shape && destination.dtype() == spec.dtype, op,
        ": the destination does not fit; got ", destination.shape(), " ", destination.dtype(),
        ", expected ", spec.shape, " ", spec.dtype);
}

Tensor make_output(const OpDef& op, const OutputSpec& spec, int index,
                   std::span<const TensorRef> inputs, const void* attrs) {
  Ref<Storage> storage;
  if (op.info.view) {
    storage = inputs[0]->get().storage;
  } else if (spec.device.type != DeviceType::meta) {
    const auto nbytes = static_cast<std::size_t>(numel_of(spec.shape)) * size_of(spec.dtype);
    storage = make_ref<Storage>(nbytes, spec.device);
  }
  auto impl = make_ref<TensorImpl>(std::move(storage), spec.shape, spec.dtype, spec.device);
  if (op.info.view) {
    op.alias(inputs[0]->get(), *impl, index, attrs);
  }
  impl->cut = spec.cut;
  impl->inference = Modes::current().inference;
  return Tensor(std::move(impl));
}

void run_kernel(const OpDef& op, std::span<const TensorRef> inputs, const void* attrs,
                Outputs& outputs, const CutPlan& plan) {
  InlineVector<TensorImpl*, 6> in;
  for (const Tensor& x : inputs) {
    in.push_back(x.impl().get());
  }
  InlineVector<TensorImpl*, 3> out;
  for (const Tensor& y : outputs) {
    out.push_back(y.impl().get());
  }
  Kernel kernel(op.info.name, {in.data(), in.size()}, {out.data(), out.size()});
  kernel.set_cuts(plan.sum_parts, plan.stack);
  if (needs_order({in.data(), in.size()}, {out.data(), out.size()})) [[unlikely]] {
    launch_ordered(op, kernel, attrs);
  } else {
    run_now(op, kernel, attrs, outputs[0].device().type);
  }
}

/// Stages 2 and 3 of the pipeline; stage 1 decided `plan`.
void compute(const OpDef& op, std::span<const TensorRef> inputs, const void* attrs,
             Outputs& outputs, const CutPlan& plan, bool any_gradient) {
  Infer infer(op.info.name, inputs);
  op.infer(infer, attrs);
  plan.apply(infer);
  const std::span<const OutputSpec> specs = infer.outputs();
  outputs.resize(specs.size());
  bool wrote_destination = false;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (outputs[i].defined()) {
      check_destination(op.info.name, outputs[i], specs[i]);
      wrote_destination = true;
    } else {
      outputs[i] = make_output(op, specs[i], static_cast<int>(i), inputs, attrs);
    }
  }
  if (!op.info.view && outputs[0].device().type != DeviceType::meta) {
    run_kernel(op, inputs, attrs, outputs, plan);
  }
  if (wrote_destination) {
    outputs[0].get().storage->bump_version();
  }
  if (any_gradient && op.vjp != nullptr && Modes::current().record) {
    record(op, inputs, attrs, outputs);
  }
}

}  // namespace

void call(const OpDef& op, std::span<const TensorRef> inputs, const void* attrs, Outputs& outputs) {
  const Traits traits = traits_of(inputs);
  if (!traits.any_cut || op.info.sees_cut) [[likely]] {
    compute(op, inputs, attrs, outputs, CutPlan{}, traits.any_gradient);
    return;
  }
  const CutPlan plan = plan_cut(op, inputs, attrs);
  if (plan.loop) {
    call_by_microbatch(op, inputs, attrs, outputs, plan);
  } else {
    compute(op, inputs, attrs, outputs, plan, traits.any_gradient);
  }
}

}  // namespace tessera
