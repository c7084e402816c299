#include <tessera/core/dispatch/call.h>

#include <array>

#include <tessera/core/dispatch/pipeline.h>
#include <tessera/core/dispatch/run.h>
#include <tessera/core/tensor/modes.h>

namespace tessera {
namespace {

/// The work of a stage that no source of the program brings: its tensors cannot have been made
/// either.
void pass_on(Call& call) {
  proceed(call);
}

constinit std::array<void (*)(Call&), kStageCount> works{pass_on, pass_on, pass_on};

Stages stages_of(std::span<const TensorRef> inputs, const Outputs& destinations) {
  Stages stages;
  for (const Tensor& x : inputs) {
    if (x.defined()) {
      stages |= x.impl()->stages();
    }
  }
  for (const Tensor& y : destinations) {
    if (y.defined() && y.impl()->stages().has(Stage::record)) {
      stages.set(Stage::record, true);
    }
  }
  return stages;
}

}  // namespace

RegisterStage::RegisterStage(Stage stage, void (*work)(Call& call)) noexcept {
  works[static_cast<std::size_t>(stage)] = work;
}

void proceed(Call& call) {
  if (call.stages.empty()) [[likely]] {
    run(call);
  } else {
    works[static_cast<std::size_t>(call.stages.take_first())](call);
  }
}

void call(const OpDef& op, std::span<const TensorRef> inputs, const void* attrs, Outputs& outputs,
          std::optional<BatchSum> sums) {
  Call whole{op, inputs, attrs, outputs, sums, stages_of(inputs, outputs)};
  if (!whole.stages.empty()) {
    whole.stages &= op.stages;
    whole.stages.set(Stage::record, whole.stages.has(Stage::record) && Modes::current().record);
  }
  proceed(whole);
}

}  // namespace tessera
