// Connectionist temporal classification (Graves et al., ICML 2006), and its gradient.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

struct CtcLossAttrs {
  std::int64_t blank = 0;      ///< the class that stands for no label
  bool zero_infinity = false;  ///< samples too short for their labels have no loss
  void fields(auto&& see) const { see("blank", blank), see("zero_infinity", zero_infinity); }
  friend bool operator==(const CtcLossAttrs&, const CtcLossAttrs&) = default;
};

/// Inputs: log-probabilities (T, N, C), labels (N, S), and of each sample the number of frames (N)
/// and of labels (N), all three of integer dtypes. Output: the loss of each sample (N), f32 or, for
/// f64, f64; infinite without an alignment. See nn/loss/ctc_loss.h for the loss of a batch.
struct CtcLoss {
  static constexpr OpInfo info{.name = "ctc_loss",
                               .doc = "-log of the probability of all alignments of labels",
                               .saved_inputs = 0b1111};
  using Attrs = CtcLossAttrs;
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs&);
};

/// Inputs: those of CtcLoss and the gradients of the losses (N). Output: the gradient of the
/// log-probabilities; NaN for a sample without an alignment, or 0 with `zero_infinity`. Its own
/// gradient is Unsupported.
struct CtcLossBackward {
  static constexpr OpInfo info{.name = "ctc_loss_backward", .doc = "the gradient of ctc_loss"};
  using Attrs = CtcLossAttrs;
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs&);
};

}  // namespace tessera
