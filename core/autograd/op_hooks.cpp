#include <tessera/core/autograd/op_hooks.h>

#include <algorithm>
#include <vector>

#include <tessera/core/autograd/run_state.h>
#include <tessera/core/base/error.h>
#include <tessera/core/ops/microbatches.h>

namespace tessera {
namespace {

/// Stacked gradients have a dim more than their inputs, and are not compared.
void check_replaced(const OpNode& node, const std::vector<Tensor>& shown,
                    const std::vector<Tensor>& replaced) {
  check(replaced.size() == node.edges.size(), "op hook on ", node.op->info.name,
        ": wrong number of gradients; got ", replaced.size(), ", expected ", node.edges.size());
  for (std::size_t i = 0; i < replaced.size(); ++i) {
    const Tensor& gradient = replaced[i];
    const bool compared =
        gradient.defined() && node.edges[i].node && !gradient.microbatches().per_microbatch;
    check(!compared || gradient.shape() == node.input_meta(i).shape, "op hook on ",
          node.op->info.name, ": wrong shape of gradient ", i, "; got ",
          compared ? gradient.shape() : Shape(), ", expected ", node.input_meta(i).shape);
    const DType dtype = shown[i].defined() ? shown[i].dtype() : node.input_meta(i).dtype;
    check(!gradient.defined() || !node.edges[i].node || gradient.dtype() == dtype, "op hook on ",
          node.op->info.name, ": wrong dtype of gradient ", i, "; got ",
          gradient.defined() ? gradient.dtype() : dtype, ", expected ", dtype);
  }
}

void run_op_hook(const OpHook& hook, const OpNode& node, std::span<Tensor> inputs,
                 const std::vector<Tensor>& outputs) {
  std::vector<Tensor> shown;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    shown.push_back(brings_rows(node, i) ? Tensor() : inputs[i]);
  }
  auto replaced = hook(shown, outputs);
  if (!replaced) {
    return;
  }
  for (std::size_t i = 0; i < std::min(replaced->size(), shown.size()); ++i) {
    (*replaced)[i] = lay_as((*replaced)[i], shown[i]);
  }
  check_replaced(node, shown, *replaced);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!brings_rows(node, i)) {
      inputs[i] = (*replaced)[i];
    }
  }
}

}  // namespace

void run_output_hooks(const OpHooks& hooks, std::span<Tensor> gradients) {
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i].defined()) {
      gradients[i] = run_gradient_hooks(hooks.outputs[i].get(), std::move(gradients[i]));
    }
  }
}

void run_op_hooks(const OpNode& node, std::span<Tensor> inputs, std::span<const Tensor> outputs) {
  if (node.hooks->after == nullptr) {
    return;
  }
  const std::vector<Tensor> shown(outputs.begin(), outputs.end());
  node.hooks->after->walk([&](const auto& entry) { run_op_hook(entry.hook, node, inputs, shown); });
}

}  // namespace tessera
