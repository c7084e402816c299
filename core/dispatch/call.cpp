#include <tessera/core/dispatch/call.h>

#include <algorithm>
#include <vector>

#include <tessera/core/autograd/loss_counts.h>
#include <tessera/core/autograd/meta.h>
#include <tessera/core/autograd/modes.h>
#include <tessera/core/autograd/record.h>
#include <tessera/core/autograd/views.h>
#include <tessera/core/base/trace.h>
#include <tessera/core/device/memory_stats.h>
#include <tessera/core/dispatch/cut_stage.h>
#include <tessera/core/dispatch/ordered_launch.h>
#include <tessera/core/dispatch/run_kernel.h>
#include <tessera/core/tensor/overlap.h>

namespace tessera {
namespace {

struct Traits {
  bool any_cut = false;
  bool any_gradient = false;
  bool any_counts = false;
  bool several_devices = false;
};

Traits traits_of(std::span<const TensorRef> inputs) {
  Traits traits;
  const Device* device = nullptr;
  for (const Tensor& x : inputs) {
    if (x.defined()) {
      const TensorImpl& impl = *x.impl();
      traits.several_devices |= device != nullptr && *device != impl.device;
      device = &impl.device;
      traits.any_cut |= static_cast<bool>(impl.cut);
      if (impl.autograd != nullptr || impl.base) {
        traits.any_gradient |= x.requires_grad();
        traits.any_counts |= impl.autograd != nullptr && impl.autograd->counts;
      }
    }
  }
  return traits;
}

Tensor make_output(const OpDef& op, const OutputSpec& spec, int index,
                   std::span<const TensorRef> inputs, const void* attrs) {
  const std::size_t nbytes = nbytes_of(op.info.name, spec.shape, size_of(spec.dtype));
  Ref<Storage> storage;
  if (op.info.view) {
    storage = inputs[0]->get().storage;
  } else if (spec.device.type != DeviceType::meta) {
    storage = make_ref<Storage>(nbytes, spec.device, category_of_results());
  }
  auto impl = make_ref<TensorImpl>(std::move(storage), spec.shape, spec.dtype, spec.device);
  impl->inference = Modes::current().inference;
  if (op.info.view) {
    op.alias(inputs[0]->get(), *impl, index, attrs);
    link_view(*impl, inputs[0]->impl());
  }
  impl->cut = spec.cut;
  return Tensor(std::move(impl));
}

void launch(const OpDef& op, std::span<const TensorRef> inputs, const void* attrs, Outputs& outputs,
            const CutPlan& plan) {
  const TraceRange trace(op.info.name, "op");
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
    run_kernel(op, kernel, attrs);
  }
}

bool is_meta(const Tensor& x) {
  return x.device().type == DeviceType::meta;
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
  if (!fits && destination.cut().stacked != spec.cut.stacked) {
    fail_on_other_borders(op);
  }
  check(fits, op, ": the destination does not fit; got ", destination.shape(), " ",
        destination.dtype(), ", expected ", spec.shape, " ", spec.dtype);
  check<NotImplementedError>(is_meta(destination) || spec.device.type != DeviceType::meta, op,
                             ": a meta tensor has no elements; got one that is to be written to a "
                             "tensor on ",
                             destination.device());
  // Whoever shows the same memory would not know that it holds several microbatches now.
  if (destination.cut() != spec.cut && others_show(destination, inputs)) {
    fail_on_microbatches(op, "writes several microbatches into memory that other tensors show");
  }
}

/// Inputs of a call that overwrites some of them.
struct SafeInputs {
  std::vector<Tensor> copies;
  InlineVector<TensorRef, 6> read;   ///< by the kernel
  InlineVector<TensorRef, 6> saved;  ///< by the tape
};

bool shares_any(const Tensor& x, const Outputs& outputs) {
  return std::ranges::any_of(outputs,
                             [&](const Tensor& y) { return y.defined() && y.shares_storage(x); });
}

/// Replaces inputs that would be overwritten before they are read, or before their gradient is. A
/// view of other elements of what is written will look stale to the gradient: it keeps its place.
SafeInputs protect_inputs(const OpDef& op, std::span<const TensorRef> inputs,
                          const Outputs& outputs, bool recording) {
  const OverlapFinder written({outputs.data(), outputs.size()});
  SafeInputs safe{.read = InlineVector<TensorRef, 6>(inputs), .saved = safe.read};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Overlap overlap = inputs[i]->defined() ? written.worst_with(*inputs[i]) : Overlap{};
    const bool wanted = recording && (op.info.saved_inputs >> i & 1U) != 0;
    if (overlap == Overlap::partial || (overlap == Overlap::same && wanted)) {
      safe.copies.reserve(inputs.size());  // once: they are referred to
      safe.saved[i] = safe.copies.emplace_back(snapshot(*inputs[i]));
      safe.read[i] = overlap == Overlap::partial ? safe.saved[i] : safe.read[i];
    } else if (wanted && inputs[i]->defined() && shares_any(*inputs[i], outputs)) {
      safe.copies.reserve(inputs.size());
      safe.saved[i] = safe.copies.emplace_back(with_its_place(*inputs[i]));
    }
  }
  return safe;
}

/// Stages 2 and 3 where some outputs exist already.
void compute_into(const OpDef& op, std::span<const TensorRef> inputs, const void* attrs,
                  Outputs& outputs, std::span<const OutputSpec> specs, const CutPlan& plan,
                  bool recording) {
  Outputs written;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (outputs[i].defined()) {
      check_fits(op.info.name, outputs[i], specs[i], inputs);
      check_writable(op.info.name, outputs[i], recording);
      written.push_back(outputs[i]);
    } else {
      outputs[i] = make_output(op, specs[i], static_cast<int>(i), inputs, attrs);
    }
  }
  for (std::size_t i = 0; i < specs.size(); ++i) {
    outputs[i].get().cut = specs[i].cut;  // nothing is changed before all are checked
  }
  const SafeInputs safe = protect_inputs(op, inputs, written, recording);
  if (outputs[0].device().type != DeviceType::meta) {
    launch(op, safe.read, attrs, outputs, plan);
    for (const Tensor& y : written) {
      y.get().storage->bump_version();
    }
  }
  if (recording) {
    record(op, safe.saved, attrs, outputs);
    for (Tensor& y : written) {
      spread_write(y);
    }
  }
}

/// Stages 2 and 3 of the pipeline; stage 1 decided `plan`.
void compute(const OpDef& op, std::span<const TensorRef> inputs, const void* attrs,
             Outputs& outputs, const CutPlan& plan, const Traits& traits) {
  Infer infer(op.info.name, inputs);
  op.infer(infer, attrs);
  if (traits.several_devices) [[unlikely]] {
    settle_devices(op, inputs, infer);
  }
  plan.apply(infer);
  const std::span<const OutputSpec> specs = infer.outputs();
  const bool recording = traits.any_gradient && op.vjp != nullptr && Modes::current().record;
  outputs.resize(specs.size());
  if (std::ranges::any_of(outputs, &Tensor::defined)) {
    compute_into(op, inputs, attrs, outputs, specs, plan, recording);
    return;
  }
  for (std::size_t i = 0; i < specs.size(); ++i) {
    outputs[i] = make_output(op, specs[i], static_cast<int>(i), inputs, attrs);
  }
  if (!op.info.view && outputs[0].device().type != DeviceType::meta) {
    launch(op, inputs, attrs, outputs, plan);
  }
  if (recording) {
    record(op, inputs, attrs, outputs);
  }
}

/// What the stacked inputs of a call say of OverPass, before the call changes them.
struct Origins {
  explicit Origins(std::span<const TensorRef> inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i]->defined()) {
        continue;
      }
      const Cut& cut = inputs[i]->cut();
      samples |= cut.sample_dim() >= 0;
      beside |= cut && !cut.stacked;
      shared |= !cut;
      if (cut.stacked) {
        alike &= stacked == 0 || cut.over == over;
        over = cut.over;
        ++stacked;
        first |= i == 0;
      }
    }
    is_real = !inputs.empty() && inputs[0]->defined() && is_differentiable(inputs[0]->dtype());
  }

  bool samples = false;  ///< some input holds them
  bool beside = false;   ///< some input that is not stacked holds them
  bool shared = false;   ///< some input is equal for all microbatches
  bool first = false;    ///< the first input is stacked
  bool is_real = false;  ///< the first input is no integer
  bool alike = true;     ///< the stacked inputs come together in one way, `over`
  int stacked = 0;
  OverPass over = OverPass::mean;
};

/// True where what `op` makes of the batch's numbers is what becomes of those that it makes of the
/// microbatches': a mean may go together with what all share, a sum may not.
bool is_linear(const OpDef& op, const Origins& from) {
  const bool one = from.stacked == 1 && !from.beside;
  switch (op.info.linear) {
    case LinearIn::first:
      return one && from.first;
    case LinearIn::either:
      return one;
    case LinearIn::all:
      return from.over == OverPass::mean || (!from.shared && !from.samples);
    case LinearIn::none:
      break;
  }
  return false;
}

/// How numbers come together that `op` makes of numbers once a microbatch.
OverPass kept_over(const OpDef& op, const Origins& from) {
  if (op.info.view && from.stacked == 1) {
    return from.over;
  }
  const bool adds = from.over == OverPass::mean || from.over == OverPass::sum;
  return from.alike && adds && is_linear(op, from) ? from.over : OverPass::none;
}

/// The same of numbers that it makes of samples, which may be less the mean of their microbatch.
OverPass reduced_over(const OpDef& op, const Origins& from) {
  const bool means = from.alike && from.over == OverPass::mean;
  return means && (from.stacked == 0 || is_linear(op, from)) ? op.info.over_samples
                                                             : OverPass::none;
}

/// What was written to a part of a tensor is of another kind than the rest.
void mark_base(const TensorImpl& written) {
  if (TensorImpl* base = written.base.get();
      base != nullptr && base->cut.over != written.cut.over) {
    base->cut.over = OverPass::none;
  }
}

void mark_over(const OpDef& op, const Origins& from, const Outputs& outputs) {
  for (const Tensor& y : outputs) {
    if (y.defined() && y.cut().stacked) {
      Cut& cut = y.get().cut;
      cut.over = from.samples && cut.samples < 0 ? reduced_over(op, from) : kept_over(op, from);
      const bool rounds = from.is_real && !is_differentiable(y.dtype());
      const bool adds = cut.over == OverPass::mean || cut.over == OverPass::sum;
      if (adds && (rounds || y.dtype() == DType::boolean)) {
        cut.over = OverPass::none;  // a cast, rounded once a microbatch
      }
    }
  }
}

/// The call where some inputs hold several microbatches, or know their samples.
void call_with_borders(const OpDef& op, std::span<const TensorRef> inputs, const void* attrs,
                       Outputs& outputs, const Traits& traits) {
  const CutPlan plan = plan_cut(op, inputs, attrs);
  if (!plan.unmarked.empty()) {
    const std::vector<Tensor> marked = marked_inputs(inputs, plan);
    call(op, std::vector<TensorRef>(marked.begin(), marked.end()), attrs, outputs);
    return;
  }
  const Origins from(inputs);
  const Outputs destinations = outputs;
  if (plan.loop) {
    call_by_microbatch(op, inputs, attrs, outputs, plan);
  } else {
    compute(op, inputs, attrs, outputs, plan, traits);
  }
  mark_over(op, from, outputs);
  for (const Tensor& written : destinations) {
    if (written.defined() && written.cut().stacked) {
      mark_base(written.get());
    }
  }
}

}  // namespace

void call(const OpDef& op, std::span<const TensorRef> inputs, const void* attrs, Outputs& outputs) {
  const Traits traits = traits_of(inputs);
  const bool beside_plain = traits.any_counts && adds_plain_mean(op, inputs);
  if (!traits.any_cut || op.info.sees_cut) [[likely]] {
    static const CutPlan as_it_is;
    compute(op, inputs, attrs, outputs, as_it_is, traits);
  } else {
    call_with_borders(op, inputs, attrs, outputs, traits);
  }
  if (traits.any_counts) [[unlikely]] {
    carry_counts(inputs, outputs, beside_plain);
  }
}

}  // namespace tessera
