#include <tessera/nn/functional/ensemble.h>

#include <tessera/core/base/mapped.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/ops/stack.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/nn/state/tree_def.h>

namespace tessera::nn {
namespace {

Tensor stacked_tensor(const std::vector<Tensor>& parts) {
  return stack(std::vector<TensorRef>(parts.begin(), parts.end()));
}

/// Leaf number `at` of all modules.
Tensor stacked_leaf(const std::vector<std::vector<Tensor>>& leaves, std::size_t at) {
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const Tensor& own = leaves[i][at];
    const Tensor& first = leaves[0][at];
    check<StructureError>(own.defined(), "stack_modules: module ", i, " has no values yet");
    check<StructureError>(own.shape() == first.shape() && own.dtype() == first.dtype(),
                          "stack_modules: module ", i, " has other tensors than module 0; got ",
                          own.shape(), ' ', own.dtype(), ", expected ", first.shape(), ' ',
                          first.dtype());
    parts.push_back(own);
  }
  return stacked_tensor(parts);
}

std::vector<SlotPtr> buffers_of(const Module& module) {
  return mapped(module.buffers(), &Buffer::slot);
}

/// Values that the module reads: in a step of several microbatches, what the pass assigned.
std::vector<Tensor> values_of(const std::vector<SlotPtr>& slots) {
  return mapped(slots, [](const SlotPtr& slot) { return read_slot(*slot); });
}

/// Buffers of members as they are called, and what becomes of the stacked ones.
class BufferUpdates {
 public:
  explicit BufferUpdates(const Module& stacked)
      : buffers_(buffers_of(stacked)), parts_(buffers_.size()), changed_(buffers_.size()) {}

  void add(const std::vector<Tensor>& before, const std::vector<Tensor>& after) {
    for (std::size_t b = 0; b < buffers_.size(); ++b) {
      parts_[b].push_back(after[b]);
      changed_[b] = changed_[b] || !after[b].is(before[b]);
    }
  }
  void write() const {
    for (std::size_t b = 0; b < buffers_.size(); ++b) {
      if (changed_[b]) {
        write_slot(buffers_[b], stacked_tensor(parts_[b]));
      }
    }
  }

 private:
  std::vector<SlotPtr> buffers_;
  std::vector<std::vector<Tensor>> parts_;
  std::vector<bool> changed_;
};

}  // namespace

ModulePtr stack_modules(std::span<const ModulePtr> modules) {
  check<ValueError>(!modules.empty(), "stack_modules: nothing to stack");
  const TreeDef definition = modules[0]->flatten().second;
  std::vector<std::vector<Tensor>> leaves;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const auto [own, structure] = modules[i]->flatten();
    check<StructureError>(structure == definition, "stack_modules: module ", i,
                          " is built otherwise than module 0");
    leaves.push_back(own);
  }
  const NoGradGuard no_grad;
  std::vector<Tensor> stacked;
  for (std::size_t at = 0; at < leaves[0].size(); ++at) {
    stacked.push_back(stacked_leaf(leaves, at));
  }
  return Module::unflatten(definition, stacked);
}

std::int64_t ensemble_size(const Module& stacked) {
  std::int64_t size = -1;
  for (const auto& [name, slot] : stacked.named_slots()) {
    const std::int64_t own = slot->shape.empty() ? 0 : slot->shape[0];
    size = size < 0 ? own : size;
    check<StructureError>(own == size && own > 0, "ensemble: \"", name,
                          "\" has another first dim than the rest; got shape ", slot->shape,
                          ", expected ", size);
  }
  check<ValueError>(size > 0, "ensemble: ", stacked.class_name(), " has no state");
  return size;
}

ModulePtr ensemble_member(const Module& stacked, std::int64_t i) {
  const std::int64_t size = ensemble_size(stacked);
  check(i >= 0 && i < size, "ensemble: no member ", i, "; got ", size, " members");
  return detail::copy_with(stacked,
                           [&](const Slot& slot) { return select(read_slot(slot), 0, i); });
}

Tensor ensemble_call(const Module& stacked, const Tensor& x, EnsembleInput input) {
  const std::int64_t size = ensemble_size(stacked);
  check(input == EnsembleInput::shared || (x.ndim() > 0 && x.size(0) == size),
        "ensemble: x must have one element for each member; got ", x.shape(), ", expected (", size,
        ", ...)");
  BufferUpdates updates(stacked);
  std::vector<Tensor> outputs;
  for (std::int64_t i = 0; i < size; ++i) {
    const ModulePtr member = ensemble_member(stacked, i);
    const std::vector<SlotPtr> buffers = buffers_of(*member);
    const std::vector<Tensor> before = values_of(buffers);
    outputs.push_back(detail::call_as(*member, std::to_string(i),
                                      input == EnsembleInput::each ? select(x, 0, i) : x));
    updates.add(before, values_of(buffers));
  }
  updates.write();
  return stacked_tensor(outputs);
}

}  // namespace tessera::nn
