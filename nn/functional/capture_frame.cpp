#include <tessera/nn/functional/capture_frame.h>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/autograd/pass_tree.h>
#include <tessera/core/autograd/seed.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/buffer_step.h>

namespace tessera::nn {

CaptureFrame::CaptureFrame(const Module& module) : module_(module) {
  for (const auto& [name, slot] : module.named_slots()) {
    const Tensor& value = slot->value;
    known_.try_emplace(slot.get(), Version{value, value.defined() ? value.version() : 0});
  }
}

bool CaptureFrame::write(const SlotPtr& slot, const Tensor& value) {
  if (!known_.contains(slot.get())) {
    return false;
  }
  check_assigned(*slot, value);
  values_[slot.get()] = kept_copy(value, slot->dtype);
  return true;
}

void CaptureFrame::check_unchanged() const {
  for (const auto& [slot, before] : known_) {
    const bool same = !before.value.defined() || before.value.version() == before.version;
    check<RuntimeError>(same, module_.class_name(), ": \"", slot->name,
                        "\" was changed in place in a pure call; assign its next value");
  }
}

ModulePtr CaptureFrame::updated(bool detached) const {
  return detail::copy_with(module_, [&](const Slot& slot) {
    const auto found = values_.find(&slot);
    const Tensor now = mean_of_pass(slot, found == values_.end() ? read_slot(slot) : found->second);
    return detached ? now.detach() : now;
  });
}

LeavesFrame::LeavesFrame(const Module& module) : CaptureFrame(module) {
  structure_ = module.variables().map([](const Tensor&) { return Tensor(); });
  for (const auto& [name, parameter] : module.named_parameters()) {
    const SlotPtr& slot = parameter.slot();
    if (slot->requires_grad()) {
      Tensor leaf = read_slot(*slot).detach();
      leaf.set_requires_grad(true);
      leaves_.emplace(slot.get(), Leaf{name, std::move(leaf)});
    }
  }
}

std::optional<Tensor> LeavesFrame::read(const Slot& slot) {
  if (std::optional<Tensor> written = KeepingFrame::read(slot)) {
    return written;
  }
  const auto found = leaves_.find(&slot);
  return found == leaves_.end() ? std::nullopt : std::optional(found->second.value);
}

namespace {

/// `gradient` in memory of its own: those of several leaves may be one tensor.
Tensor own(const Tensor& gradient) {
  return is_exclusive(gradient) ? gradient.detach() : clone(gradient.detach());
}

}  // namespace

Variables LeavesFrame::gradients(const Tensor& loss) const {
  std::vector<const Leaf*> order;
  std::vector<Tensor> inputs;
  for (const auto& [slot, leaf] : leaves_) {
    order.push_back(&leaf);
    inputs.push_back(leaf.value);
  }
  const std::vector<Tensor> seeds{seed_of_item(loss)};
  const std::vector<Tensor> gradients = loss.requires_grad()
                                            ? grad(std::span(&loss, 1), inputs, seeds)
                                            : std::vector<Tensor>(inputs.size());
  Variables result = structure_;
  for (std::size_t i = 0; i < order.size(); ++i) {
    result.at(order[i]->name) = gradients[i].defined() ? own(gradients[i]) : zeros_like(inputs[i]);
  }
  return result;
}

}  // namespace tessera::nn
