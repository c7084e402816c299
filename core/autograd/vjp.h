// What an op's gradient sees and sets: the vector-Jacobian product.
#pragma once

#include <tessera/core/autograd/node.h>
#include <tessera/core/autograd/run_state.h>

namespace tessera {

/// Gradients of a recorded call's outputs come in, gradients of its inputs go out. Gradients are
/// written with public ops, so that gradients of gradients come free.
class Vjp {
 public:
  Vjp(RunState& run, const OpRun& op) : run_(run), op_(op), node_(*op.node) {
    results_.resize(node_.edges.size());
  }

  /// The gradient of output `i`; zeros when none arrived.
  [[nodiscard]] Tensor gradient(int i = 0) const;
  [[nodiscard]] bool has_gradient(int i) const { return run_.gradients(op_)[index(i)].defined(); }
  /// True when somebody wants the gradient of input `i`: compute no others.
  [[nodiscard]] bool needs(int i) const { return !run_.targets(op_)[index(i)].is_nowhere(); }
  /// A saved input or output. Throws InternalError for one that `OpInfo` does not name.
  [[nodiscard]] Tensor input(int i = 0) const;
  [[nodiscard]] Tensor output(int i = 0) const;
  [[nodiscard]] int input_count() const { return static_cast<int>(node_.edges.size()); }
  [[nodiscard]] const TensorMeta& input_meta(int i = 0) const { return node_.input_meta(index(i)); }
  [[nodiscard]] const TensorMeta& output_meta(int i = 0) const { return node_.outputs[index(i)]; }
  /// True when input `i` was given.
  [[nodiscard]] bool has_input(int i) const {
    return i < input_count() && input_meta(i).device.index != kNotGiven;
  }

  /// Memory for the gradient of input `i`, to be handed to `call_into`: a bucket, when the input is
  /// a parameter with this one use; otherwise undefined.
  [[nodiscard]] Tensor destination(int i) const;
  /// Sets the gradient of input `i`, in that input's shape (stacked pieces have one dim more).
  void set(int i, Tensor gradient) { results_[index(i)] = std::move(gradient); }
  /// Sets the gradient of input `i` to what `Op` makes of `inputs`: it sums over their samples,
  /// which all of them hold along dim 0. In a step of several microbatches the uses of a parameter
  /// that has more than one are put off and summed together where that is cheaper (sum_uses).
  template <OpStruct Op>
  void set_batch_sum(int i, std::initializer_list<TensorRef> inputs,
                     const typename Op::Attrs& attrs) {
    set_batch_sum(i, op_def<Op>(), std::span<const TensorRef>(inputs.begin(), inputs.size()),
                  &attrs);
  }
  void set_batch_sum(int i, const OpDef& op, std::span<const TensorRef> inputs, const void* attrs);
  /// Sets the gradient of input `i`, a matrix, as rows to be added. Ids without borders take those
  /// of the values. See RowGradient.
  void set_rows(int i, Tensor ids, Tensor values);

  [[nodiscard]] InlineVector<Tensor, 3>& results() { return results_; }

 private:
  /// True when the sum is put off until the other uses of the parameter have come.
  bool put_off_batch_sum(int i, const OpDef& op, std::span<const TensorRef> inputs,
                         const void* attrs);
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  RunState& run_;
  const OpRun& op_;
  OpNode& node_;
  InlineVector<Tensor, 3> results_;
};

}  // namespace tessera
