// The node at which gradients of a parameter end.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <tessera/core/autograd/node.h>
#include <tessera/core/autograd/row_gradient.h>

namespace tessera {

/// Told that a leaf's gradient is complete.
using ReadyHook = std::function<void(LeafNode&)>;

/// What one backward pass contributed to a leaf.
struct Contribution {
  Tensor
      dense;  ///< in the parameter's shape, summed over the pass's microbatches; may be undefined
  RowGradient rows;
};

/// Takes the gradients of one leaf. The default one adds them to `grad`; data parallel installs its
/// own, whose memory lies in buckets.
///
/// Called on the thread that runs backward, and never blocks on communication.
class GradientSink {
 public:
  virtual ~GradientSink() = default;
  /// Memory that the pass's sum may be written to directly, or undefined. It must hold nothing of
  /// value: it is overwritten.
  [[nodiscard]] virtual Tensor destination(LeafNode& leaf) = 0;
  /// Memory that a forward pass may write the gradient to already, for a backward that is still to
  /// come; undefined, the default, for none. It is given to one holder at a time, until
  /// nobody else holds the returned tensor's storage, and never while it holds a gradient that the
  /// optimizer has not used yet.
  [[nodiscard]] virtual Tensor early_destination(LeafNode&) { return {}; }
  /// Called when the dense part of what a backward contributes is whole and rows are still to
  /// come. True if the sink moves it away now: `complete` then brings rows alone. The default
  /// waits.
  [[nodiscard]] virtual bool take_dense(LeafNode&, Tensor& /*dense*/) { return false; }
  /// Called once per backward, after the last contribution to the leaf.
  virtual void complete(LeafNode& leaf, Contribution contribution) = 0;
};

/// Accumulates contributions to one leaf. Fires exactly once per backward that reaches the leaf,
/// after the last contribution, tied uses included.
class LeafNode final : public TapeNode, public Pooled<LeafNode> {
 public:
  explicit LeafNode(TensorMeta of) : meta(std::move(of)) {}
  [[nodiscard]] LeafNode* as_leaf() noexcept override { return this; }

  TensorMeta meta;
  Tensor grad;
  std::shared_ptr<GradientSink> sink;                ///< null: add to `grad`
  std::shared_ptr<GradientHooks> hooks;              ///< see the sum over uses, may replace it
  std::shared_ptr<HookList<ReadyHook>> ready_hooks;  ///< run after `grad` has the pass's gradient

  // Scratch of this backward.
  Tensor sum;                     ///< dense contributions so far
  std::vector<RowGradient> rows;  ///< row contributions
  std::int32_t arrived = 0;       ///< dense uses that have come, with a contribution or none
  bool dense_taken = false;       ///< the sink has the dense part
  std::shared_ptr<struct PassRounds>
      passes;  ///< sums of earlier passes of the step, see open_rounds.h

  /// Adds one use's gradient.
  void add(Tensor gradient);
  /// Offers the sum to the sink before rows have come, unless hooks wait for everything.
  void offer_dense();
  /// The finished sum, for somebody who wants it instead of the sink; hooks on gradients have run.
  [[nodiscard]] Tensor take_sum();
  /// Hands the finished sum to the sink and runs the hooks.
  void complete();
  /// Adds a finished sum to `grad`.
  void add_to_grad(Contribution total);
  void run_ready_hooks();
  void clear_scratch();

 private:
  void add_up_microbatches(GradientSink* into);
  [[nodiscard]] bool hooked() const { return hooks != nullptr && !hooks->empty(); }
};

}  // namespace tessera
