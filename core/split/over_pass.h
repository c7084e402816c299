// How numbers that exist once a microbatch become the batch's: what an op makes of it.
#pragma once

#include <span>

#include <tessera/core/dispatch/call.h>

namespace tessera {

/// What the inputs of a call say of OverPass, before the call changes them.
struct Origins {
  explicit Origins(std::span<const TensorRef> inputs);

  bool samples = false;    ///< some input holds them
  bool beside = false;     ///< some input with borders holds them otherwise
  bool shared = false;     ///< some input is equal for all microbatches
  bool first = false;      ///< the first input exists once a microbatch
  bool is_real = false;    ///< the first input is no integer
  bool alike = true;       ///< those inputs come together in one way, `over`
  int per_microbatch = 0;  ///< number of inputs that exist once a microbatch
  OverPass over = OverPass::mean;
};

/// Says of the `outputs` of `op` that exist once a microbatch how their numbers become the batch's.
void mark_over_pass(const OpDef& op, const Origins& from, const Outputs& outputs);

/// What was written to a part of a tensor may be of another kind than the rest: says so of its
/// base.
void mark_base(const TensorImpl& written);

}  // namespace tessera
