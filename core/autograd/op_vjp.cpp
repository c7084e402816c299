#include <tessera/core/autograd/op_vjp.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include <tessera/core/autograd/meta.h>
#include <tessera/core/base/context.h>
#include <tessera/core/dispatch/split_plan.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/microbatches.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>

namespace tessera {

Tensor OpVjp::gradient(int i) const {
  const Tensor& arrived = run_.gradients(op_)[index(i)];
  if (arrived.defined()) {
    return arrived;
  }
  const TensorMeta& meta = output_meta(i);
  Tensor none = zeros(meta.shape, {.dtype = meta.dtype, .device = meta.device});
  none.get().set_microbatches(meta.microbatches);
  return none;
}

Tensor OpVjp::input(int i) const {
  const SavedTensor& saved = node_.saved_inputs[index(i)];
  check<InternalError>((node_.op->info.saved_inputs >> i & 1U) != 0, node_.op->info.name,
                       ": the gradient reads input ", i, ", which is not saved");
  return saved.unpack(node_.op->info.name);
}

/// Whether output `i` may have been written to the memory of a parameter's sink.
bool OpVjp::lies_with_sink(int i) const {
  const EarlyGradient early = node_.op->info.early_gradient;
  if (early.input < 0 || i != early.output) {
    return false;
  }
  const auto& node = node_.edges[index(early.input)].node;
  const LeafNode* leaf = node ? node->as_leaf() : nullptr;
  return leaf != nullptr && leaf->sink != nullptr;
}

Tensor OpVjp::output(int i) const {
  check<InternalError>((node_.op->info.saved_outputs >> i & 1U) != 0, node_.op->info.name,
                       ": the gradient reads output ", i, ", which is not saved");
  Tensor saved = node_.saved_outputs[index(i)].unpack(node_.op->info.name);
  if (lies_with_sink(i) && (!run_.into_leaves() || node_.hooks != nullptr)) {
    saved = clone(saved);  // somebody may keep it when the sink needs its memory
  }
  if (!grad_enabled() && saved.get().autograd == nullptr) {
    return saved;
  }
  // A gradient that knew its producer would keep the graph alive through its leaf.
  saved = saved.detach();
  if (grad_enabled()) {
    set_producer(saved.get(), Ref<OpNode>(&node_), static_cast<std::uint32_t>(i));
  }
  return saved;
}

bool OpVjp::has_output(int i) const {
  return node_.saved_outputs[index(i)].is_intact();
}

namespace {

/// Where no sample had a part in the op's outputs, each microbatch has a gradient of its own.
bool brings_apart(std::span<const Tensor> gradients) {
  return std::ranges::any_of(gradients, [](const Tensor& gradient) {
    return gradient.defined() && gradient.microbatches().per_microbatch;
  });
}

}  // namespace

Tensor OpVjp::destination(int i) const {
  // The gradients of several microbatches, which another input wants apart, would not fit.
  if (Modes::current().batch_sum == BatchSum::per_microbatch && Context::current().pass.count > 1) {
    return {};
  }
  if (brings_apart(run_.gradients(op_))) {
    return {};
  }
  const LeafRun* target = run_.into_leaves() ? run_.leaf_behind(op_, index(i)) : nullptr;
  if (target == nullptr || !target->only_use() || target->leaf().sink == nullptr) {
    return {};
  }
  return target->leaf().sink->destination(target->leaf());
}

namespace {

/// Inputs of a sum over samples: one without borders has an entry for each sample of the others.
std::vector<Tensor> marked_alike(std::span<const TensorRef> inputs) {
  MicrobatchLayout layout;
  for (const Tensor& x : inputs) {
    layout = x.microbatches() && !x.microbatches().per_microbatch ? x.microbatches() : layout;
  }
  std::vector<Tensor> marked;
  for (const Tensor& x : inputs) {
    marked.push_back(layout && !x.microbatches() ? as_microbatches(x, layout.count, layout.dim)
                                                 : x);
  }
  return marked;
}

/// The leaf of which input `i` is one microbatch's copy; null for none.
LeafRun* repeated_leaf(RunState& run, const OpRun& op, std::size_t i) {
  RunTarget at = run.targets(op)[i];
  for (const std::string_view step :
       {UnbindMicrobatches::info.name, RepeatMicrobatches::info.name}) {
    if (at.is_nowhere() || at.is_leaf() || run.op(at).node->op->info.name != step) {
      return nullptr;
    }
    at = run.targets(run.op(at))[0];
  }
  return at.is_leaf() ? &run.leaf(at) : nullptr;
}

/// Alone, a microbatch puts the sum off as well, and takes it with those of the other uses.
void check_only_use(const OpDef& op, const LeafRun* leaf) {
  if (leaf != nullptr && !leaf->only_use()) {
    fail_on_microbatches(
        op.info.name,
        "takes a parameter that is used more than once, and here with a value that "
        "exists once a microbatch");
  }
}

}  // namespace

void OpVjp::set_batch_sum(int i, const OpDef& op, std::span<const TensorRef> inputs,
                          const void* attrs) {
  const bool has_samples =
      inputs[0]->ndim() - (inputs[0]->microbatches().per_microbatch ? 1 : 0) > 1;
  const bool several = Context::current().pass.grain > 1;
  if (several && has_samples && !grad_enabled() && put_off_batch_sum(i, op, inputs, attrs)) {
    return;
  }
  Outputs outputs{destination(i)};
  call(op, inputs, attrs, outputs);
  set(i, std::move(outputs[0]));
}

bool OpVjp::put_off_batch_sum(int i, const OpDef& op, std::span<const TensorRef> inputs,
                              const void* attrs) {
  LeafRun* leaf = run_.leaf_behind(op_, index(i));
  const bool shared = leaf != nullptr && !leaf->only_use() && !input_meta(i).microbatches;
  if (!shared && !node_.of_one_microbatch) {
    return false;
  }
  const std::vector<Tensor> marked = marked_alike(inputs);
  if (!are_summed_together(marked, numel_of(input_meta(i).shape))) {
    return false;
  }
  if (node_.of_one_microbatch) [[unlikely]] {
    check_only_use(*node_.op, repeated_leaf(run_, op_, index(i)));
  }
  if (!shared || node_.hooks != nullptr) {
    return false;
  }
  leaf->put_off({op, std::vector<TensorRef>(marked.begin(), marked.end()), attrs});
  return true;
}

namespace {

/// The dense gradient of each microbatch.
Tensor dense_apart(const SparseGradient& rows, const TensorMeta& meta) {
  const Outputs ids = unbind_microbatches(rows.ids);
  const Outputs values = unbind_microbatches(rows.values);
  std::vector<Tensor> dense;
  for (std::size_t m = 0; m < ids.size(); ++m) {
    const SparseGradient own{
        .ids = ids[m], .values = values[m], .first = rows.first + static_cast<std::int64_t>(m)};
    dense.push_back(add_sparse({}, own, meta));
  }
  return join_microbatches(std::vector<TensorRef>(dense.begin(), dense.end()), -1);
}

}  // namespace

void OpVjp::set_sparse(int i, Tensor ids, Tensor values) {
  if (const MicrobatchLayout& layout = values.microbatches();
      layout && !ids.microbatches() && layout.dim < values.ndim() - 1) {
    // Ids that all microbatches share (positions) are looked up once and have a gradient for each.
    ids = layout.per_microbatch ? repeat_microbatches(ids, layout.count)
                                : as_microbatches(ids, layout.count, layout.dim);
  }
  if (!lie_in_runs(ids)) {
    ids = stack_microbatches(ids);
    values = stack_microbatches(values);
  }
  const SparseGradient rows{.ids = ids,
                            .values = values,
                            .microbatch_count = ids.microbatches() ? ids.microbatches().count : 1,
                            .first = Context::current().pass.first};
  if (LeafRun* leaf = run_.leaf_behind(op_, index(i)); leaf != nullptr) {
    leaf->add_sparse(rows);
    return;
  }
  // Alone, a microbatch would bring the leaf rows, which are summed by themselves.
  if (node_.of_one_microbatch && Context::current().pass.grain > 1 && !grad_enabled() &&
      repeated_leaf(run_, op_, index(i)) != nullptr) [[unlikely]] {
    fail_on_microbatches(node_.op->info.name, "takes ids that exist once a microbatch");
  }
  set(i, rows.microbatch_count > 1 ? dense_apart(rows, input_meta(i))
                                   : add_sparse({}, rows, input_meta(i)));
}

}  // namespace tessera
