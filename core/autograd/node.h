// The tape: what was called, on what, in which order.
#pragma once

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

  // Scratch of the backward pass numbered `run`: contributions still to come, and dense ones in
  // all.
  std::uint64_t run = 0;
  std::int32_t pending = 0;
  std::int32_t uses = 0;

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

  const OpDef* op;
  AttrsBox attrs;
  std::uint64_t sequence = 0;             ///< newer calls have larger numbers
  bool released = false;                  ///< saved tensors are gone: backward ran already
  bool reaches = false;                   ///< scratch: leads to an input that `grad` asks for
  InlineVector<Edge, 3> edges;            ///< one an input
  InlineVector<TensorMeta, 1> constants;  ///< of the inputs without an edge, in their order
  InlineVector<TensorMeta, 1> outputs;
  InlineVector<SavedTensor, 3> saved_inputs;
  InlineVector<SavedTensor, 1> saved_outputs;
  InlineVector<Tensor, 1> gradients;  ///< scratch: gradients of the outputs so far
  std::unique_ptr<OpHooks> hooks;     ///< null for none
};

}  // namespace tessera
