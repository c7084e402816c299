// The node at which gradients of a parameter end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <tessera/core/autograd/gradient_scale.h>
#include <tessera/core/autograd/node.h>
#include <tessera/core/autograd/sparse_gradient.h>
#include <tessera/core/base/small_mutex.h>

namespace tessera {

/// Told that a leaf's gradient is complete.
using ReadyHook = std::function<void(LeafNode&)>;

/// What one backward pass contributed to a leaf.
struct Contribution {
  Tensor
      dense;  ///< in the parameter's shape, summed over the pass's microbatches; may be undefined
  SparseGradient rows;
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
  /// Such memory for a forward that makes the gradient already (OpInfo::early_gradient); undefined,
  /// the default, for none. What it wrote is looked for there again in its backward, and made anew
  /// where somebody has written since: the sink tells by the version.
  [[nodiscard]] virtual Tensor early_destination(LeafNode&) { return {}; }
  /// Takes the dense part of what a backward contributes as soon as it is whole, when rows may
  /// still be to come; at most once per backward.
  virtual void take_dense(LeafNode& leaf, Tensor dense) = 0;
  /// Called once per backward, after the last contribution to the leaf, with its rows. The leaf's
  /// hooks are the sink's to run, on the step's sum when it is whole.
  virtual void complete(LeafNode& leaf, SparseGradient rows) = 0;
};

/// What a backward made of a leaf's `grad`.
struct GradChange {
  Tensor before;
  bool counted_nothing;  ///< of `before`
  std::uint64_t number;  ///< of the change, among all to the leaf's `grad`
};

/// The leaf at which gradients of a tensor end. Fires exactly once per backward that reaches it,
/// after the last contribution, tied uses included; see LeafRun.
class LeafNode final : public TapeNode, public Pooled<LeafNode> {
 public:
  explicit LeafNode(const TensorImpl& of) : meta(of) {}
  [[nodiscard]] LeafNode* as_leaf() noexcept override { return this; }

  /// Adds a finished sum to `grad`, of a backward in which nothing counted if `counted_nothing`.
  /// Threads whose backwards end at one leaf take turns.
  GradChange add_to_grad(Contribution total, bool counted_nothing);
  /// Gives `grad` back its value from before, unless it was changed again.
  void undo(GradChange change);
  [[nodiscard]] Tensor grad() const;
  void set_grad(Tensor gradient, bool counted_nothing = false);
  /// Makes `gradient` the leaf's, as the program and no backward says.
  void give_grad(Tensor gradient);
  /// True when `grad` is what was given, or that and what backwards added. Where ranks sum
  /// gradients, their sum takes its place and is not given.
  [[nodiscard]] bool grad_is_given() const;
  /// True when `grad` is defined and nothing counted in any backward that it comes from.
  [[nodiscard]] bool counted_nothing() const;
  /// `gradient` as the hooks on it leave it. Errors name the parameter.
  [[nodiscard]] Tensor run_hooks(Tensor gradient) const;
  void run_ready_hooks();

  TensorMeta meta;
  bool frozen = false;  ///< by set_requires_grad: what earlier forwards bring is dropped
  std::shared_ptr<GradientSink> sink;                ///< null: add to `grad`
  std::shared_ptr<GradientHooks> hooks;              ///< see the step's sum, may replace it
  std::shared_ptr<HookList<ReadyHook>> ready_hooks;  ///< run after `grad` has the pass's gradient

 private:
  mutable SmallMutex mutex_;
  Tensor grad_;
  bool counted_nothing_ = false;  ///< of `grad_`, where that is defined
  bool given_ = false;            ///< of `grad_`, where that is defined
  std::uint64_t changes_ = 0;     ///< to `grad_`

 public:                                  // last, as no backward reads it
  std::weak_ptr<const std::string> name;  ///< of the parameter, for errors; expired: it has none
};

}  // namespace tessera
