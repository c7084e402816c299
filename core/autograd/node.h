// The tape: what was called, on what, in which order.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <tessera/core/autograd/saved_tensor.h>
#include <tessera/core/base/hook_list.h>
#include <tessera/core/base/inline_vector.h>
#include <tessera/core/base/pooled.h>
#include <tessera/core/dispatch/op.h>

namespace tessera {

class OpNode;
class LeafNode;

/// What gradients flow into: a recorded op, or the leaf at which they end.
class TapeNode : public RefCounted {
 public:
  virtual ~TapeNode() = default;
  /// Note [Iterative release]. A chain of 200,000 ops is a linked list of nodes; deleting it by
  /// recursion overflows the stack. The outermost release drains a list that inner ones append to.
  static void release(TapeNode* node) noexcept;

  [[nodiscard]] virtual OpNode* as_op() noexcept { return nullptr; }
  [[nodiscard]] virtual LeafNode* as_leaf() noexcept { return nullptr; }

  std::uint64_t sequence = 0;  ///< larger than those of what it was computed from; 0 for leaves

 private:
  TapeNode* released_before_ = nullptr;  ///< in the list of nodes to delete
};

/// Where the gradient of one input goes: output `output` of `node`. Null: nowhere.
struct Edge {
  Ref<TapeNode> node;
  std::uint32_t output = 0;
};

/// Everything about a tensor but its elements.
struct TensorMeta {
  Shape shape;
  DType dtype = DType::f32;
  Device device{};
  Cut cut;

  static TensorMeta of(const TensorImpl& x) { return {x.shape, x.dtype, x.device, x.cut}; }
};

/// In place of an input that was not given.
inline constexpr std::int8_t kNotGiven = -1;  ///< as device index

/// Gets the gradient of a tensor and may return another one in its place.
using GradientHook = std::function<Tensor(const Tensor& gradient)>;

/// Hooks on one tensor's gradient.
using GradientHooks = HookList<GradientHook>;

/// The gradient as `hooks`, null for none, leave it.
[[nodiscard]] Tensor run_gradient_hooks(const GradientHooks* hooks, Tensor gradient);

/// Gets the gradients of a recorded op's inputs, undefined where there are none or only rows, and
/// of its outputs, and may return others for the inputs.
using OpHook = std::function<std::optional<std::vector<Tensor>>(
    const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs)>;

/// Hooks around the gradient of one recorded op.
struct OpHooks {
  std::vector<std::shared_ptr<GradientHooks>> outputs;  ///< one an output, null for none
  std::shared_ptr<HookList<OpHook>> after;
};

/// A recorded op.
class OpNode final : public TapeNode, public Pooled<OpNode> {
 public:
  OpNode(const OpDef& def, const void* attributes) : op(&def), attrs(*def.attrs, attributes) {}
  [[nodiscard]] OpNode* as_op() noexcept override { return this; }
  /// What is known of input `i`. Inputs with an edge are described where it leads: nodes are made
  /// with every recorded call, so they hold nothing twice.
  [[nodiscard]] const TensorMeta& input_meta(std::size_t i) const;

  /// True when the saved tensors are gone, or about to go: backward ran, or runs.
  [[nodiscard]] bool released() const noexcept {
    return (readers.load(std::memory_order_relaxed) & kReleased) != 0;
  }
  static constexpr std::uint32_t kReleased = 1U << 31U;

  const OpDef* op;
  AttrsBox attrs;
  std::atomic<std::uint32_t> readers = 0;  ///< see SavedUse
  InlineVector<Edge, 3> edges;             ///< one an input
  InlineVector<TensorMeta, 1> constants;   ///< of the inputs without an edge, in their order
  InlineVector<TensorMeta, 1> outputs;
  InlineVector<SavedTensor, 3> saved_inputs;
  InlineVector<SavedTensor, 1> saved_outputs;
  std::unique_ptr<OpHooks> hooks;  ///< null for none
};

/// While it lives, a backward may read what a node saved. Several that keep the graph may at once;
/// one that does not keep it has it to itself, and lets go of it at the end.
class SavedUse {
 public:
  /// Throws InvalidArgument where a backward that did not keep the graph came first.
  SavedUse(OpNode& node, bool keep);
  ~SavedUse();
  SavedUse(const SavedUse&) = delete;
  SavedUse& operator=(const SavedUse&) = delete;

 private:
  OpNode& node_;
  bool keep_;
};

/// Throws InvalidArgument when a backward that did not keep the graph ran through `node`.
void check_not_released(const OpNode& node);

}  // namespace tessera
