#include <tessera/core/autograd/record.h>

#include <algorithm>

#include <tessera/core/autograd/meta.h>

namespace tessera {
namespace {

/// A logical clock (Lamport, Time, Clocks, and the Ordering of Events, 1978): what was recorded on
/// another thread and is read here is older than what comes of it.
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uint64_t next_sequence = 1;

/// Where the gradient of an input goes or, if nowhere, what it is.
void add_input(OpNode& node, const Tensor& x) {
  const TapeEdge& edge = node.edges.emplace_back(x.defined() ? edge_of(x) : TapeEdge{});
  if (edge.node) {
    next_sequence = std::max(next_sequence, edge.node->sequence + 1);
    return;
  }
  if (x.defined()) {
    node.constants.emplace_back(x.get());
  } else {
    node.constants.push_back(TensorMeta::not_given());
  }
}

void save(OpNode& node, std::span<const TensorRef> inputs, const Outputs& outputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool wanted = (node.op->info.saved_inputs >> i & 1U) != 0 && inputs[i]->defined();
    wanted ? node.saved_inputs.emplace_back(*inputs[i]) : node.saved_inputs.emplace_back();
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    // Detached: an output that knew its producer would keep the node alive in a cycle.
    if (const OpInfo& info = node.op->info; (info.saved_outputs >> i & 1U) == 0) {
      node.saved_outputs.emplace_back();
    } else if ((info.kept_outputs >> i & 1U) == 0) [[likely]] {
      node.saved_outputs.emplace_back(outputs[i].detach());
    } else {
      node.saved_outputs.emplace_back(SavedTensor::as_it_is(outputs[i].detach()));
    }
  }
}

bool goes_on_tape(const TensorImpl& y) {
  return is_differentiable(y.dtype) && !y.inference;
}

void attach(Ref<OpNode> node, TensorImpl& y, std::size_t index) {
  set_producer(y, std::move(node), static_cast<std::uint32_t>(index));
  if (y.base) {
    y.epoch.store(y.base->epoch, std::memory_order_release);
  }
}

}  // namespace

void record(const OpDef& op, std::span<const TensorRef> inputs, const void* attrs,
            Outputs& outputs) {
  Ref<OpNode> node = make_ref<OpNode>(op, attrs);
  for (const Tensor& x : inputs) {
    add_input(*node, x);
  }
  node->sequence = next_sequence++;  // after the edges: they may record stale views anew
  for (const Tensor& y : outputs) {
    node->outputs.emplace_back(y.get());
  }
  save(*node, inputs, outputs);
  for (std::size_t i = outputs.size(); i-- > 1;) {
    if (goes_on_tape(outputs[i].get())) {
      attach(node, outputs[i].get(), i);
    }
  }
  if (!outputs.empty() && goes_on_tape(outputs[0].get())) {
    attach(std::move(node), outputs[0].get(), 0);  // most have one: no count goes up and down
  }
}

}  // namespace tessera
