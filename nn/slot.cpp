#include <tessera/nn/slot.h>

#include <algorithm>

#include <tessera/core/autograd/outside_reads.h>
#include <tessera/core/ops/cast.h>
#include <tessera/nn/buffer_step.h>
#include <tessera/nn/functional/frame.h>
#include <tessera/nn/tree/module.h>

namespace tessera::nn {
namespace {

[[noreturn]] void fail_without_value(const Slot& slot) {
  check<RuntimeError>(slot.stored, '"', slot.name,
                      "\": built with store_vars off; every call needs CallOptions::v");
  check<RuntimeError>(slot.sized(), '"', slot.name,
                      "\": uninitialised; the first call of its module tells its shape");
  fail<RuntimeError>('"', slot.name,
                     "\": its model is not made yet; construct models with nn::make");
}

Tensor read_now(const Slot& slot) {
  for (const auto* link = CallState::current().frames; link != nullptr; link = link->outer) {
    if (std::optional<Tensor> value = link->frame->read(slot)) {
      return *std::move(value);
    }
  }
  if (slot.step != nullptr) {
    if (std::optional<Tensor> own = slot.step->own()) {
      return *std::move(own);
    }
  }
  if (!slot.value.defined()) [[unlikely]] {
    fail_without_value(slot);
  }
  return slot.value;
}

}  // namespace

bool Slot::sized() const {
  return std::ranges::find(shape, kInferred) == shape.end();
}

Tensor read_slot(const Slot& slot) {
  return read_outside([&] { return read_now(slot); });
}

void check_assigned(const Slot& slot, const Tensor& value) {
  const bool several = in_step_of_several();
  const bool stacked = slot.kind == Slot::Kind::buffer && value.cut().stacked &&
                       value.ndim() == slot.shape.size() + 1;
  check(several ? stacked || (value.shape() == slot.shape && !value.cut())
                : value.shape() == slot.shape,
        "assign: wrong shape for ", slot.name, "; got ", value.shape(),
        several && value.cut() ? " with one entry a sample" : "", ", expected ", slot.shape,
        several ? ", or one of those a microbatch" : "");
}

void write_slot(const SlotPtr& slot, const Tensor& value) {
  if (Modes::current().recomputing) {
    return;  // the forward did it
  }
  const CallState& state = CallState::current();
  for (const auto* link = state.frames; link != nullptr; link = link->outer) {
    if (link->frame->write(slot, value)) {
      return;
    }
  }
  check<ValueError>(
      state.pure == nullptr, "assign: \"", slot->name, "\" is assigned in a pure call of ",
      state.pure == nullptr ? "" : state.pure->class_name(), ", which does not hold it");
  if (slot->kind == Slot::Kind::buffer && in_step_of_several()) {
    write_in_step(slot, value);
    return;
  }
  check_assigned(*slot, value);
  slot->value = cast(value.detach(), slot->value.dtype());
  slot->value.set_requires_grad(slot->kind == Slot::Kind::parameter && slot->requires_grad);
}

}  // namespace tessera::nn
