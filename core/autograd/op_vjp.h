// The gradient of one recorded op, as a run of backward computes it.
#pragma once

#include <tessera/core/autograd/node.h>
#include <tessera/core/autograd/run_state.h>
#include <tessera/core/dispatch/vjp.h>

namespace tessera {

/// What arrived for the outputs of `op` in `run`, what its node saved, and what its gradient gives.
class OpVjp final : public Vjp {
 public:
  OpVjp(RunState& run, const OpRun& op) : run_(run), op_(op), node_(*op.node) {
    results_.resize(node_.edges.size());
  }

  [[nodiscard]] CallContext context() const override { return CallContext::current(); }
  [[nodiscard]] Tensor gradient(int i) const override;
  [[nodiscard]] bool has_gradient(int i) const override {
    return run_.gradients(op_)[index(i)].defined();
  }
  [[nodiscard]] bool needs(int i) const override {
    return !run_.targets(op_)[index(i)].is_nowhere();
  }
  [[nodiscard]] Tensor input(int i) const override;
  [[nodiscard]] Tensor output(int i) const override;
  [[nodiscard]] bool has_output(int i) const override;
  [[nodiscard]] int input_count() const override { return static_cast<int>(node_.edges.size()); }
  [[nodiscard]] const TensorMeta& input_meta(int i) const override {
    return node_.input_meta(index(i));
  }
  [[nodiscard]] const TensorMeta& output_meta(int i) const override {
    return node_.outputs[index(i)];
  }
  [[nodiscard]] Tensor destination(int i) const override;
  void set(int i, Tensor gradient) override { results_[index(i)] = std::move(gradient); }
  void set_batch_sum(int i, const OpDef& op, std::span<const TensorRef> inputs,
                     const void* attrs) override;
  void set_sparse(int i, Tensor ids, Tensor values) override;

  [[nodiscard]] InlineVector<Tensor, 3>& results() { return results_; }

 private:
  /// True when the sum is put off until the other uses of the parameter have come.
  bool put_off_batch_sum(int i, const OpDef& op, std::span<const TensorRef> inputs,
                         const void* attrs);
  [[nodiscard]] bool lies_with_sink(int i) const;
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  RunState& run_;
  const OpRun& op_;
  OpNode& node_;
  InlineVector<Tensor, 3> results_;
};

}  // namespace tessera
