#include <tessera/nn/slot.h>

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <vector>

#include <tessera/core/autograd/hooks.h>
#include <tessera/core/autograd/meta.h>
#include <tessera/core/autograd/outside_reads.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/base/loop.h>
#include <tessera/core/base/module_path.h>
#include <tessera/core/device/backend.h>
#include <tessera/core/device/hazards.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/core/tensor/transfer.h>
#include <tessera/nn/buffer_step.h>
#include <tessera/nn/functional/frame.h>
#include <tessera/nn/tree/module.h>

namespace tessera::nn {
namespace {

/// Calls on several threads may assign and read a buffer at once.
std::mutex& mutex_of(const Slot& slot) {
  static std::array<std::mutex, 64> mutexes;
  return mutexes[std::hash<const Slot*>()(&slot) / sizeof(Slot) % mutexes.size()];
}

Tensor stored_value(const Slot& slot) {
  if (slot.kind == Slot::Kind::parameter) {
    return slot.value;  // no forward assigns it
  }
  const std::lock_guard lock(mutex_of(slot));
  return slot.value;
}

/// `value` for a forward in a step of several microbatches: a count in place would count passes.
Tensor read_only(const Tensor& value) {
  Tensor shown = value.detach();
  shown.get().read_only = true;
  return shown;
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
  Tensor value = stored_value(slot);
  if (!value.defined()) [[unlikely]] {
    fail<RuntimeError>('"', slot.name, "\": ", why_without_value(slot));
  }
  const bool shared = slot.kind == Slot::Kind::buffer && in_step_of_several();
  return shared && module_is_running() ? read_only(value) : value;
}

/// True in an evaluation inside a pass of a training step whose values of `slot` are yet to come.
bool lies_in_step_of(const Slot& slot) {
  const bool open = slot.step != nullptr && slot.step->open();
  for (const Loop* loop = Context::current().loop.get(); loop != nullptr && loop->lies_in_outer();
       loop = loop->outer.get()) {
    const Pass& around = loop->outer->pass;
    if (loop->is_repeated() || (open && around.training && around.grain > 1)) {
      return true;
    }
  }
  return false;
}

/// What an evaluation inside a step's pass assigns would be there once for each pass, or be
/// replaced by what the step brings.
void check_not_in_another_step(const Slot& slot) {
  check<RuntimeError>(!lies_in_step_of(slot), "assign: \"", slot.name,
                      "\" is assigned by an evaluation inside a pass of a training step that has "
                      "not ended; call model->eval(), or evaluate in "
                      "`if (optimizer.step().ended)`");
}

/// A slot's value in memory, whoever's that is.
struct Lying {
  const std::byte* first;
  const std::byte* end;
  const Slot* slot;
};

/// One with gaps counts as its first element: others may take turns with it in a memory.
Lying where_it_lies(const Slot& slot) {
  const TensorImpl& x = slot.value.get();
  const auto size = static_cast<std::int64_t>(size_of(x.dtype));
  std::int64_t last = 0;
  for (int d = 0; d < x.shape.size(); ++d) {
    last += (x.shape[d] - 1) * x.strides[d];
  }
  const bool dense = last + 1 == slot.value.numel();
  const std::byte* first = x.storage->data() + x.offset * size;
  return {first, first + (dense ? last + 1 : 1) * size, &slot};
}

/// Ranks that evaluate see samples of their own, and nobody brings together what they assign.
void check_not_of_a_share(const Slot& slot) {
  const Context& context = Context::current();
  const Pass& pass = context.pass;
  check<RuntimeError>(
      context.world_size == 1 || pass.samples == 0 || pass.training || pass.grain == 1,
      "assign: \"", slot.name, "\" is assigned outside of training steps, by rank ", context.rank,
      "'s samples alone; call model->eval(), or use a loader that "
      "counts steps and an optimizer's step");
}

}  // namespace

void Initializer::operator()(const Tensor& value, const Box& box,
                             const RandomStream& stream) const {
  check(value.shape() == box.shape && value.is_contiguous(),
        "initializer: the tensor does not fit; got shape ", value.shape(), " and strides ",
        value.strides(), ", expected a dense one of shape ", box.shape);
  if (value.device().type == DeviceType::meta) {
    return;
  }
  if (is_host_addressable(value.device())) {
    wait_until_writable(*value.get().storage);
    fill_(value, box, stream);
  } else {
    const Tensor host = empty(box.shape, {.dtype = value.dtype()});
    fill_(host, box, stream);
    transfer(value, host);
  }
}

const char* why_without_value(const Slot& slot) {
  if (!slot.stored) {
    return "built with store_vars off; every call needs CallOptions::v";
  }
  return slot.sized() ? "its model is not made yet; construct models with nn::make"
                      : "uninitialised; the first call of its module tells its shape";
}

bool Slot::sized() const {
  return std::ranges::find(shape, kInferred) == shape.end();
}

bool Slot::requires_grad() const {
  return value.defined() && value.is_leaf() ? value.requires_grad() : declared_requires_grad_;
}

void Slot::check_can_require(bool on) const {
  check(value.is_leaf(), "requires_grad_: the value of \"", name,
        "\" was computed; only leaves are frozen and trained");
  check(!on || !value.defined() || !value.get().inference || Modes::current().inference,
        "requires_grad_: the value of \"", name,
        "\" was made under InferenceGuard; expected a clone(x) made after the guard");
  check(!on || is_differentiable(dtype), "requires_grad_: \"", name, "\" has no gradients; got ",
        dtype, ", expected a floating or complex dtype");
}

void Slot::set_requires_grad(bool on) {
  check_can_require(on);
  if (value.defined()) {
    value.set_requires_grad(on);
    name_leaf();
  } else {
    declared_requires_grad_ = on;
  }
}

void Slot::name_leaf() const {
  if (value.defined() && value.is_leaf() && value.requires_grad()) {
    leaf_of(value).name = std::shared_ptr<const std::string>(weak_from_this().lock(), &name);
  }
}

void Slot::put_off_update() {
  if (const auto& pass = Context::current().pass_mark; pass != nullptr && value.defined()) {
    put_off_write(
        *value.get().storage, pass, name,
        "is used after optimizer.step() in a pass of its training step that is not the last, which "
        "makes the update; put what wants the new value into `if (optimizer.step().ended)`, or "
        "give "
        "steps one pass: by LoaderOptions::grain = 1, or the number of ranks; where no module "
        "mixes "
        "samples, as batch norm does, a number of ranks that divides the grain, and at_once = 0, "
        "are enough");
  }
}

void Slot::drop_grad() const {
  const bool put_off =
      value.defined() && value.get().storage && write_is_put_off(*value.get().storage);
  if (value.defined() && !put_off) {
    value.set_grad({});
  }
}

void Slot::put(Tensor fresh) {
  if (const Tensor old = stored_value(*this); old.defined() && old.get().storage) {
    wait_until_readable(*old.get().storage);  // an update that is put off would be lost
  }
  const std::lock_guard lock(mutex_of(*this));
  const bool trained = requires_grad();
  if (fresh.defined() && fresh.is_leaf()) {
    fresh.set_requires_grad(trained && is_differentiable(fresh.dtype()));
    if (value.defined()) {
      share_hooks(value, fresh);
    }
  }
  if (!fresh.defined() || !fresh.is_leaf()) {
    declared_requires_grad_ = trained;
  }
  if (fresh.defined() && (fresh.shape() != shape || fresh.dtype() != dtype)) {
    shape = fresh.shape();
    dtype = fresh.dtype();
  }
  std::swap(value, fresh);
  name_leaf();
}

Tensor read_slot(const Slot& slot) {
  return read_outside(slot.name, [&] { return read_now(slot); });
}

Tensor kept_copy(const Tensor& value, DType dtype) {
  const ModeGuard<&Modes::inference> inference(value.get().inference && Modes::current().inference);
  return cast(value, dtype, true);
}

void check_assigned(const Slot& slot, const Tensor& value) {
  const bool several = in_step_of_several();
  const bool per_microbatch = slot.kind == Slot::Kind::buffer &&
                              value.microbatches().per_microbatch &&
                              value.ndim() == slot.shape.size() + 1;
  check(several ? per_microbatch || (value.shape() == slot.shape && !value.microbatches())
                : value.shape() == slot.shape,
        "assign: wrong shape for ", slot.name, "; got ", value.shape(),
        several && value.microbatches() ? " with one entry a sample" : "", ", expected ",
        slot.shape,
        several ? ", or one of those a microbatch"
        : per_microbatch
            ? ": one for each microbatch of a pass that trains nothing; call model->eval(), "
              "or use LoaderOptions::grain = 1"
            : "");
}

void write_slot(const SlotPtr& slot, const Tensor& value) {
  if (Modes::current().recomputing) {
    return;  // the forward did it
  }
  check(value.defined(), "assign: \"", slot->name, "\": the value is an undefined tensor");
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
  if (slot->kind == Slot::Kind::buffer) {
    check_not_of_a_share(*slot);
    check_not_in_another_step(*slot);
  }
  check_assigned(*slot, value);
  slot->put(kept_copy(value.detach(), stored_value(*slot).dtype()));
}

void check_apart(const char* what, std::span<const Slot* const> slots) {
  std::vector<Lying> all;
  for (const Slot* slot : slots) {
    if (slot->value.get().storage != nullptr && slot->value.numel() > 0) {
      all.push_back(where_it_lies(*slot));
    }
  }
  std::ranges::stable_sort(all, std::less<>(), &Lying::first);
  for (std::size_t i = 0, far = 0; i < all.size(); ++i) {
    check<ValueError>(i == 0 || all[far].end <= all[i].first, what, ": the parameters ",
                      all[far].slot->name, " and ", all[i].slot->name,
                      " lie in the same memory; expected one of them tied to the other by tie(), ",
                      "or a clone(x)");
    far = all[far].end < all[i].end ? i : far;
  }
}

}  // namespace tessera::nn
