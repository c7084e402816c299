// The tape: what was called, on what, in which order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <tessera/core/autograd/saved_tensor.h>
#include <tessera/core/autograd/target.h>
#include <tessera/core/base/hook_list.h>
#include <tessera/core/base/inline_vector.h>
#include <tessera/core/base/pooled.h>
#include <tessera/core/dispatch/op.h>
#include <tessera/core/tensor/tensor_meta.h>

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
  friend class RunState;
  std::uint64_t run_ = 0;                ///< of backward, that discovered it last
  RunTarget target_;                     ///< in that run
  TapeNode* released_before_ = nullptr;  ///< in the list of nodes to delete
};

/// Where the gradient of one input goes: output `output` of `node`. Null: nowhere.
struct TapeEdge {
  Ref<TapeNode> node;
  std::uint32_t output = 0;
};

/// Gets the gradient of a tensor and may return another one in its place.
using GradientHook = std::function<Tensor(const Tensor& gradient)>;

/// Hooks on one tensor's gradient.
using GradientHooks = HookList<GradientHook>;

/// The gradient as `hooks`, null for none, leave it. `of`: the parameter that errors name.
[[nodiscard]] Tensor run_gradient_hooks(const GradientHooks* hooks, Tensor gradient,
                                        std::string_view of = {});

/// Gets the gradients of a recorded op's inputs, undefined where there are none or only rows, and
/// of its outputs, and may return others for the inputs.
using OpHook = std::function<std::optional<std::vector<Tensor>>(
    const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs)>;

/// Hooks around the gradient of one recorded op.
struct OpHooks {
  std::vector<std::shared_ptr<GradientHooks>> outputs;  ///< one an output, null for none
  std::shared_ptr<HookList<OpHook>> after;
};

/// A recorded op. What a run of backward reads of every node comes first: the tape of a model does
/// not fit into the caches.
class OpNode final : public TapeNode, public Pooled<OpNode> {
 private:
  friend class RunState;
  std::uint64_t taken_by_ = 0;  ///< the run of backward that leaves nothing saved
  std::uint32_t readers_ = 0;   ///< runs under way that leave it
  bool cleared_ = false;        ///< nothing is saved any more

 public:
  OpNode(const OpDef& def, const void* attributes) : op(&def), attrs(*def.attrs, attributes) {}
  [[nodiscard]] OpNode* as_op() noexcept override { return this; }
  /// What is known of input `i`. Inputs with an edge are described where it leads: nodes are made
  /// with every recorded call, so they hold nothing twice.
  [[nodiscard]] const TensorMeta& input_meta(std::size_t i) const;

  const OpDef* op;
  bool of_one_microbatch = false;   ///< see Note [Second gradients of one microbatch]
  std::unique_ptr<OpHooks> hooks;   ///< null for none
  InlineVector<TapeEdge, 3> edges;  ///< one an input
  InlineVector<TensorMeta, 1> outputs;
  InlineVector<TensorMeta, 1> constants;  ///< of the inputs without an edge, in their order
  AttrsBox attrs;
  InlineVector<SavedTensor, 3> saved_inputs;
  InlineVector<SavedTensor, 1> saved_outputs;
};

}  // namespace tessera
