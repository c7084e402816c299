// What an op's gradient sees and sets: the vector-Jacobian product.
#pragma once

#include <concepts>
#include <initializer_list>
#include <span>

#include <tessera/core/dispatch/call_context.h>
#include <tessera/core/dispatch/op.h>
#include <tessera/core/tensor/tensor_meta.h>

namespace tessera {

/// Gradients of a recorded call's outputs come in, gradients of its inputs go out. Gradients are
/// written with public ops, so that gradients of gradients come free. The tape implements it, so
/// that ops know no tape.
class Vjp {
 public:
  /// What the gradient may depend on besides what it is given here.
  [[nodiscard]] virtual CallContext context() const = 0;
  /// The gradient of output `i`; zeros when none arrived.
  [[nodiscard]] virtual Tensor gradient(int i = 0) const = 0;
  [[nodiscard]] virtual bool has_gradient(int i) const = 0;
  /// True when somebody wants the gradient of input `i`: compute no others. An op with one input
  /// that can have a gradient need not ask: it has no node on the tape where nobody wants that.
  [[nodiscard]] virtual bool needs(int i) const = 0;
  /// A saved input or output. Throws InternalError for one that `OpInfo` does not name.
  [[nodiscard]] virtual Tensor input(int i = 0) const = 0;
  [[nodiscard]] virtual Tensor output(int i = 0) const = 0;
  /// False when somebody has written to output `i` since it was saved, which `output` refuses then.
  [[nodiscard]] virtual bool has_output(int i) const = 0;
  [[nodiscard]] virtual int input_count() const = 0;
  [[nodiscard]] virtual const TensorMeta& input_meta(int i = 0) const = 0;
  [[nodiscard]] virtual const TensorMeta& output_meta(int i = 0) const = 0;
  /// True when input `i` was given.
  [[nodiscard]] bool has_input(int i) const {
    return i < input_count() && input_meta(i).is_given();
  }

  /// Memory for the gradient of input `i`, to be handed to `call_into`: a bucket, when the input is
  /// a parameter with this one use; otherwise undefined.
  [[nodiscard]] virtual Tensor destination(int i) const = 0;
  /// Sets the gradient of input `i`, in that input's shape (stacked pieces have one dim more).
  virtual void set(int i, Tensor gradient) = 0;
  /// Sets it to what `make` gives, which is called only where somebody wants it.
  template <std::invocable Make>
  void set(int i, const Make& make) {
    if (needs(i)) {
      set(i, make());
    }
  }
  /// Sets the gradient of input `i` to what `Op` makes of `inputs`: it sums over their samples,
  /// which all of them hold along dim 0. In a step of several microbatches the uses of a parameter
  /// that has more than one are put off and summed together where that is cheaper.
  template <OpStruct Op>
  void set_batch_sum(int i, std::initializer_list<TensorRef> inputs,
                     const typename Op::Attrs& attrs) {
    set_batch_sum(i, op_def<Op>(), std::span<const TensorRef>(inputs.begin(), inputs.size()),
                  &attrs);
  }
  virtual void set_batch_sum(int i, const OpDef& op, std::span<const TensorRef> inputs,
                             const void* attrs) = 0;
  /// Sets the gradient of input `i`, a matrix, as rows to be added. Ids without borders take those
  /// of the values.
  virtual void set_sparse(int i, Tensor ids, Tensor values) = 0;

 protected:
  Vjp() = default;
  Vjp(const Vjp&) = delete;
  Vjp& operator=(const Vjp&) = delete;
  ~Vjp() = default;
};

}  // namespace tessera
