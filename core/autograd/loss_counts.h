// How a mean whose denominator the data decide carries what it counted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tessera/core/base/ref.h>
#include <tessera/core/dispatch/call.h>

namespace tessera {

/// The counts of a loss that is a mean over counted elements, shared by all tensors that were
/// computed from it. See "Means over what counts" in docs/determinism.md.
struct LossCounts : RefCounted {
  const char* loss = "";        ///< what made it, a literal
  Tensor values;                ///< f64: the denominator of each microbatch, () or (parts)
  double elements = 0;          ///< of a microbatch, by shape
  const char* other = nullptr;  ///< a loss with other counts that was combined with it
};

/// Marks `loss`, a number or one a microbatch, as a mean whose denominators are `counted`, in the
/// loss's shape; `elements` is the denominator of a microbatch in which everything counts, `over`
/// how the microbatches' losses become the batch's: by their mean, unless what is averaged was
/// computed of other numbers once a microbatch. Does nothing on the meta device.
void attach_counts(const Tensor& loss, const char* name, const Tensor& counted,
                   std::int64_t elements, OverPass over = OverPass::mean);

/// The counts that `x` carries; null for a plain tensor.
[[nodiscard]] const LossCounts* counts_of(const Tensor& x);

/// The counts of a sum of two losses, of which the first may have none. Losses that count the same
/// share of their elements go together, and the one with more elements speaks for both.
[[nodiscard]] Ref<const LossCounts> combine_counts(const Ref<const LossCounts>& a,
                                                   const Ref<const LossCounts>& b);

/// Gives outputs that still exist once a microbatch the counts of the inputs. `beside_plain` is
/// what adds_plain_mean said before the call. What lies beside a loss that was written into a part
/// of a tensor counts as a loss with other counts.
void carry_counts(std::span<const TensorRef> inputs, const Outputs& outputs, bool beside_plain);

/// A gradient is no loss, whatever it was computed from: `gradient`, maybe undefined, carries no
/// counts any more.
void forget_counts(const Tensor& gradient);

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

/// The counts as numbers, one a microbatch. Throws InvalidArgument naming `op` and both losses
/// where two with different counts were combined.
[[nodiscard]] std::vector<double> read_counts(const char* op, const LossCounts& counts);

/// Elements of a microbatch of `x`, by shape.
[[nodiscard]] std::int64_t elements_of_microbatch(const Tensor& x);

/// The mean over all microbatches from the mean of each: by `counts`, one a microbatch, or by equal
/// weights where there are none or all are equal. Sums go along the tree. 0 where nothing counted.
[[nodiscard]] double mean_by_counts(std::vector<double> means, std::vector<double> counts);

}  // namespace tessera
