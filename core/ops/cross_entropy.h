// Cross entropy from logits, and its gradient.
//
// With p = softmax(logits) over V classes, smoothing s and target t, the loss of a row is
//
//   -sum_j q_j log p_j,  q_j = (1 - s) [j == t] + s / V
//
// and its gradient p - q.
#pragma once

#include <tessera/core/dispatch/call.h>

namespace tessera {

/// How losses of rows become the result.
enum class LossReduction : std::uint8_t {
  mean,  ///< over the rows that are not ignored
  sum,
  none,  ///< one a row
};

std::ostream& operator<<(std::ostream&, LossReduction);

/// Inputs: logits (..., V), targets (...) of an integer dtype. Outputs: the loss, () or (...); per
/// row the largest logit and log(sum(e^(logit - largest))) (..., 2); and per row the factor (...,
/// 1) with which its loss enters: 0 for an ignored row, else 1, or 1 / (rows that count) for the
/// mean. All three are f32, or f64 for f64 logits. Means and sums are formed for each microbatch by
/// itself: rows are added in f64, in order inside blocks of 256 rows, and so are the blocks.
struct CrossEntropy {
  static constexpr OpInfo info{.name = "cross_entropy",
                               .doc = "-log softmax(logits)[target], averaged over rows",
                               .sums_microbatches = true,
                               .saved_inputs = 0b11,
                               .saved_outputs = 0b110,
                               .over_samples = OverPass::mean};
  struct Attrs {
    std::int64_t ignore_index = -100;  ///< rows with this target count nothing
    double label_smoothing = 0;
    LossReduction reduction = LossReduction::mean;
    void fields(auto&& see) const {
      see("ignore_index", ignore_index), see("label_smoothing", label_smoothing),
          see("reduction", reduction);
    }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// Inputs: per row the gradient of its loss (..., 1); logits (..., V); targets (...); output
/// 1 of `cross_entropy` (..., 2). Output: the gradient of the logits, 0 where the row's gradient is
/// 0 or its target no class.
struct CrossEntropyBackward {
  static constexpr OpInfo info{.name = "cross_entropy_backward",
                               .doc = "the gradient of cross_entropy",
                               .saved_inputs = 0b1111};
  struct Attrs {
    double label_smoothing = 0;
    void fields(auto&& see) const { see("label_smoothing", label_smoothing); }
    friend bool operator==(const Attrs&, const Attrs&) = default;
  };
  static void infer(Infer& c, const Attrs& attrs);
  static void reference(Kernel& k, const Attrs& attrs);
  static void vjp(Vjp& v, const Attrs& attrs);
  static ShardRule shard(const Infer& c, const Attrs& attrs);
};

/// Cross entropy of softmax(logits) (..., V) with the classes `targets` (...). The result is f32
/// (f64 for f64), of shape () or, unreduced, (...). The mean is over the rows of the global batch
/// that are not ignored (docs/determinism.md); over none it is 0, where PyTorch gives NaN. Throws
/// InvalidArgument for a target outside [0, V) that is not `ignore_index`.
[[nodiscard]] Tensor cross_entropy(const Tensor& logits, const Tensor& targets,
                                   const CrossEntropy::Attrs& options = {});

}  // namespace tessera
