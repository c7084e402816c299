// The stage of calls whose inputs or destinations may be on the tape, while gradients are on.
#include <algorithm>
#include <vector>

#include <tessera/core/autograd/meta.h>
#include <tessera/core/autograd/record.h>
#include <tessera/core/autograd/views.h>
#include <tessera/core/dispatch/run.h>
#include <tessera/core/tensor/overlap.h>

namespace tessera {
namespace {

bool is_recorded(const Call& call) {
  return call.op.vjp != nullptr &&
         std::ranges::any_of(call.inputs, [](const Tensor& x) { return x.requires_grad(); });
}

bool shares_any(const Tensor& x, const Outputs& destinations) {
  return std::ranges::any_of(destinations, [&](const Tensor& y) { return y.shares_storage(x); });
}

/// Inputs of a call as the tape keeps them: those that the call overwrites and its gradient reads
/// are copied before. A view of other elements of what is written will look stale to the gradient:
/// it keeps its place.
class KeptInputs {
 public:
  KeptInputs(const Call& call, const Outputs& destinations) : kept_(call.inputs) {
    const OverlapFinder written({destinations.data(), destinations.size()});
    copies_.reserve(call.inputs.size());  // once: they are referred to
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      const Tensor& x = call.inputs[i];
      if ((call.op.info.saved_inputs >> i & 1U) == 0 || !x.defined()) {
        continue;
      }
      if (written.worst_with(x) != Overlap::none) {
        kept_[i] = copies_.emplace_back(snapshot(x));
      } else if (shares_any(x, destinations)) {
        kept_[i] = copies_.emplace_back(with_its_place(x));
      }
    }
  }
  [[nodiscard]] std::span<const TensorRef> get() const { return {kept_.data(), kept_.size()}; }

 private:
  std::vector<Tensor> copies_;
  InlineVector<TensorRef, 6> kept_;
};

/// An output of `op` that is nearly the gradient of a parameter is written to where that gradient
/// will be wanted, if the parameter's sink has memory for it.
void write_to_sink(Call& call) {
  const EarlyGradient early = call.op.info.early_gradient;
  const Tensor& parameter = call.inputs[static_cast<std::size_t>(early.input)];
  LeafNode* leaf =
      parameter.requires_grad() && parameter.is_leaf() ? known_leaf_of(parameter) : nullptr;
  if (leaf == nullptr || leaf->sink == nullptr) {
    return;
  }
  if (const Tensor memory = leaf->sink->early_destination(*leaf); memory.defined()) {
    const auto index = static_cast<std::size_t>(early.output);
    call.outputs.resize(std::max(call.outputs.size(), index + 1));
    // A handle of its own: the sink's must not learn of the graph, which knows the sink.
    call.outputs[index] = memory.detach();
  }
}

/// Runs a call that writes to `destinations`, and records it if `recording`.
void write_and_record(Call& call, std::span<const OutputSpec> specs, Outputs& destinations,
                      bool recording) {
  for (const Tensor& y : destinations) {
    check_write_on_tape(call.op.info.name, y, recording);
  }
  for (const Tensor& x : call.inputs) {
    if (recording && x.defined()) {
      settle_view(x);  // what cannot go on the tape is refused before anything is written
    }
  }
  mark_outputs(call, specs);
  if (!recording) {
    launch(call, destinations);
    return;
  }
  const KeptInputs kept(call, destinations);
  launch(call, destinations);
  record(call.op, kept.get(), call.attrs, call.outputs);
  for (Tensor& y : destinations) {
    spread_write(y);
  }
}

void run_and_record(Call& call) {
  const bool recording = is_recorded(call);
  if (recording && call.op.info.early_gradient.input >= 0) [[unlikely]] {
    write_to_sink(call);
  }
  const Infer infer = infer_outputs(call);
  Outputs destinations = prepare_outputs(call, infer.outputs());
  if (!destinations.empty()) [[unlikely]] {
    write_and_record(call, infer.outputs(), destinations, recording);
    return;
  }
  launch(call, destinations);
  if (recording) {
    record(call.op, call.inputs, call.attrs, call.outputs);
  }
}

const RegisterStage register_record(Stage::record, run_and_record);

}  // namespace
}  // namespace tessera
