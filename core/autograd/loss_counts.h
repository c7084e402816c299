// How what a loss counted goes on to what is computed from it.
#pragma once

#include <span>

#include <tessera/core/dispatch/call.h>
#include <tessera/core/tensor/loss_counts.h>

namespace tessera {

/// The counts of a sum of two losses, of which the first may have none. Losses that count the same
/// share of their elements go together, and the one with more elements speaks for both.
[[nodiscard]] Ref<const LossCounts> combine_counts(const Ref<const LossCounts>& a,
                                                   const Ref<const LossCounts>& b);

/// Gives outputs that still exist once a microbatch the counts of the inputs. `beside_plain` is
/// what adds_plain_mean said before the call. What lies beside a loss that was written into a part
/// of a tensor counts as a loss with other counts.
void carry_counts(std::span<const TensorRef> inputs, const Outputs& outputs, bool beside_plain);

/// A gradient is no loss, whatever it was computed from: `gradient`, maybe undefined, becomes a
/// tensor that carries no counts. One that was given, as a seed or by a hook, keeps its own.
void forget_counts(Tensor& gradient);

/// True when `op` adds to a loss that counted a part of its elements what counts nothing and was
/// taken from the samples: a mean over all of them.
[[nodiscard]] bool adds_plain_mean(const OpDef& op, std::span<const TensorRef> inputs);

/// True when other things than parameters and numbers went into `x`, which wants a gradient: a
/// penalty is made of these alone.
[[nodiscard]] bool is_made_of_data(const Tensor& x);

/// True when a tensor went into `x` that may hold the samples of the pass, as one of its sizes
/// says.
[[nodiscard]] bool may_be_made_of_samples(const Tensor& x);

/// True when `x`, which carries no counts, differs between microbatches, or may.
[[nodiscard]] bool is_plain_mean(const Tensor& x);

/// `counts` of a loss beside which there is another one, `other`, a literal. The same where all of
/// its elements count.
[[nodiscard]] Ref<const LossCounts> beside(const Ref<const LossCounts>& counts, const char* other);

}  // namespace tessera
