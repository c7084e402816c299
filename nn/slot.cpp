#include <tessera/nn/slot.h>

#include <vector>

#include <tessera/core/autograd/modes.h>
#include <tessera/core/ops/cast.h>
#include <tessera/nn/buffer_step.h>

namespace tessera::nn {
namespace {

std::vector<Frame*>& frames() {
  thread_local std::vector<Frame*> stack;
  return stack;
}

}  // namespace

FrameScope::FrameScope(Frame& frame) {
  frames().push_back(&frame);
}

FrameScope::~FrameScope() {
  frames().pop_back();
}

Tensor read_slot(const Slot& slot) {
  const std::vector<Frame*>& stack = frames();
  for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame) {
    if (std::optional<Tensor> value = (*frame)->read(slot)) {
      return *std::move(value);
    }
  }
  if (slot.step != nullptr && !Modes::current().recomputing) {
    if (std::optional<Tensor> own = slot.step->own()) {
      return *std::move(own);
    }
  }
  check(slot.value.defined(), "parameter: its model is not made yet; ",
        "construct models with nn::make");
  return slot.value;
}

void write_slot(const SlotPtr& slot, const Tensor& value) {
  const std::vector<Frame*>& stack = frames();
  for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame) {
    if ((*frame)->write(slot, value)) {
      return;
    }
  }
  if (Modes::current().recomputing) {
    return;  // the forward did it
  }
  if (slot->kind == Slot::Kind::buffer && in_step_of_several()) {
    write_in_step(slot, value);
    return;
  }
  check(value.shape() == slot->shape, "assign: wrong shape for ", slot->name, "; got ",
        value.shape(), ", expected ", slot->shape);
  slot->value = cast(value.detach(), slot->value.dtype());
}

}  // namespace tessera::nn
