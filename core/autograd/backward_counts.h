// How a backward weighs microbatches by what their losses counted.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <tessera/core/autograd/gradient_scale.h>
#include <tessera/core/autograd/leaf_run.h>
#include <tessera/core/base/elements_of_run.h>

namespace tessera {

/// Stands for the count of a microbatch with a plain loss: all of it counts. Counts that are added
/// up of signed weights may be below 0.
inline constexpr double kPlainLoss = -std::numeric_limits<double>::infinity();

/// What the losses of a pass counted.
struct PassCounts {
  const char* loss = "";
  std::vector<double> values;  ///< denominators, one a microbatch of the pass; empty: a plain loss
  double elements = 0;         ///< of a microbatch, by shape
};

/// Implemented by sinks that sum over ranks.
class CountedSink {
 public:
  virtual ~CountedSink() = default;
  /// Which sum over ranks it belongs to: a number that grows in the order in which they were made,
  /// the same on all ranks. Leaves come in orders that depend on how many microbatches share a
  /// pass.
  [[nodiscard]] virtual std::uint64_t sum_number() const = 0;
  /// Takes the counts of the pass whose backward begins, before anything else of it and once for
  /// each sum, in that order. Returns the n of all ranks, that of rank 0: the first time others
  /// wait for it.
  [[nodiscard]] virtual double take_counts(const PassCounts& counts) = 0;
  /// The scale of gradients of the step's k-th backward, from all ranks' counts; when its last pass
  /// has ended.
  [[nodiscard]] virtual GradientScale scale_of_step() const = 0;
};

/// The scale of gradients from the denominators of all microbatches of the global batch, added
/// along the tree; kPlainLoss stands for n. A batch of one microbatch was seeded with 1 and is left
/// alone.
[[nodiscard]] GradientScale scale_of(std::vector<double> counts, double elements);

/// The weights of one backward.
class BackwardCounts {
 public:
  /// Reads what `roots` without a seed of their own carry and tells the sinks of `leaves`. Throws
  /// InvalidArgument naming both losses where two with different counts meet.
  void begin(std::span<const Tensor> roots, std::span<const Tensor> seeds,
             std::span<const LeafRun> leaves);
  /// The seed of each microbatch; empty for a plain loss, whose seeds are all 1/G.
  [[nodiscard]] const std::vector<double>& weights() const { return weights_; }
  /// The scale of gradients that this backward completes by itself: its pass is the whole step.
  [[nodiscard]] GradientScale scale() const { return scale_; }
  /// The scale of gradients that sums over the step's passes complete, where a sink knows it.
  [[nodiscard]] std::optional<GradientScale> scale_of_step() const;

 private:
  std::shared_ptr<GradientSink> told_;  ///< a CountedSink
  std::vector<double> weights_;
  GradientScale scale_;
};

/// Adds a finished sum to the leaf's `grad`, scaled and as the leaf's hooks leave it.
GradChange add_scaled_to_grad(LeafNode& leaf, Contribution total, GradientScale scale);

/// The loss at which the current backward begins, as ElementsOfRun knows it.
[[nodiscard]] LossKey current_loss_key();

/// True when `parameter` has a gradient and nothing counted in any backward that brought it.
[[nodiscard]] bool counted_nothing(const Tensor& parameter);

}  // namespace tessera
