// How the borders of microbatches pass through an op. See docs/determinism.md.
#pragma once

#include <cstdint>
#include <span>

#include <tessera/core/dispatch/call_context.h>
#include <tessera/core/dispatch/op.h>

namespace tessera {

/// What happens to microbatch borders in one call. One that holds none has the plan of its
/// defaults.
struct SplitPlan {
  /// Per output: the dim that carries the borders on, or -1 when the op sums over it.
  InlineVector<std::int8_t, 3> output_dims;
  std::int32_t microbatch_count = 1;
  std::int32_t summed_microbatches = 1;  ///< what the kernel is told: pieces of its sums
  bool per_microbatch = false;           ///< sums are wanted one a microbatch, in a new dim 0
  bool per_microbatch_inputs =
      false;                 ///< some inputs exist once a microbatch, or came of such values
  std::int8_t samples = -1;  ///< MicrobatchLayout::samples of an elementwise op's results then
  bool loop = false;         ///< run the op on each microbatch alone
  /// Per input: the dim along which it has an entry a sample without knowing it, or -1. Empty: none
  /// has.
  InlineVector<std::int8_t, 4> unmarked;

  /// Sets the layouts of the outputs, and gives sums a microbatch their dim of pieces.
  void apply(Infer& infer) const {
    if (microbatch_count > 1 || !output_dims.empty()) [[unlikely]] {
      set_microbatches(infer);
    }
  }

 private:
  void set_microbatches(Infer& infer) const;
};

/// Throws Unsupported that names `op`, `why` it cannot go on, the module that runs and the ways
/// out.
[[noreturn]] void fail_on_microbatches(const char* op, const char* why);

/// Throws Unsupported, naming `op`, since a tensor that has no borders between microbatches, or
/// others, would be written to.
[[noreturn]] void fail_on_other_borders(const char* op);

/// Calls it when `value` exists once a microbatch and `destination` does not.
inline void check_borders(const char* op, const Tensor& destination, const Tensor& value) {
  if (value.microbatches().per_microbatch && !destination.microbatches().per_microbatch)
      [[unlikely]] {
    fail_on_other_borders(op);
  }
}

/// What a call does with the microbatches of its inputs. Throws Unsupported, naming op and ways
/// out, when the op mixes samples.
[[nodiscard]] SplitPlan plan_split(const OpDef& op, std::span<const TensorRef> inputs,
                                   const void* attrs, const CallContext& context);

/// The dim of one microbatch that holds samples, for each output of a call with such inputs, or
/// -1; `first` are the inputs of one microbatch. Throws Unsupported when the op mixes samples: what
/// came of `x - mean(x, {0}, true)` may no more be compared with other samples than x, of which a
/// microbatch is but a part.
[[nodiscard]] InlineVector<std::int8_t, 3> sample_dims_per_microbatch(
    const OpDef& op, std::span<const TensorRef> inputs, std::span<const TensorRef> first,
    const void* attrs);

}  // namespace tessera
