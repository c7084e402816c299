// The stages that a call goes through before its kernel runs.
//
// A call takes on the stages of its inputs, and of its destinations the recording: none, for plain
// tensors, and then it runs. Else the first stage takes the call over, and lets it proceed without
// itself, or makes other calls in its place. Stages are found by number: what they need to know
// stays in their own folders.
#pragma once

#include <optional>
#include <span>

#include <tessera/core/dispatch/call.h>
#include <tessera/core/dispatch/split_plan.h>
#include <tessera/core/tensor/stage.h>

namespace tessera {

/// One call on its way.
struct Call {
  const OpDef& op;
  std::span<const TensorRef> inputs;
  const void* attrs;
  Outputs& outputs;                  ///< defined ones are destinations
  std::optional<BatchSum> sums;      ///< over the batch, where not as the circumstances say
  Stages stages;                     ///< still to go through
  const SplitPlan* split = nullptr;  ///< null: nothing holds microbatches
};

/// Sends `call` on: to the first of its stages or, without any, to `run`.
void proceed(Call& call);

/// Makes `work` what `stage` does with a call that is to go through it, of which it has been taken
/// out; one constant of this type stands in the stage's source.
struct RegisterStage {
  RegisterStage(Stage stage, void (*work)(Call& call)) noexcept;
};

}  // namespace tessera
