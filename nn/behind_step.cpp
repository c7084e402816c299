#include <tessera/nn/behind_step.h>

#include <memory>
#include <string>

#include <tessera/core/base/context.h>
#include <tessera/core/base/error.h>
#include <tessera/core/base/module_path.h>
#include <tessera/core/base/philox.h>
#include <tessera/core/base/random_scope.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/transfer.h>
#include <tessera/nn/buffer_step.h>

namespace tessera::nn {
namespace {

/// A thread's own: ranks may be threads.
struct Behind {
  std::weak_ptr<const void> pass;  ///< the mark of the latest in which an optimizer stepped
  bool ended = false;
  Facts assigned;
};

Behind& behind() {
  thread_local std::unique_ptr<Behind> own = std::make_unique<Behind>();
  return *own;
}

}  // namespace

void note_optimizer_step(bool ended) {
  behind().pass = Context::current().pass_mark;
  behind().ended = ended;
}

bool assign_behind_step(Slot& slot, const Tensor& value) {
  const auto& mark = Context::current().pass_mark;
  const bool in_hook = ParameterHookScope::alive();
  const bool open = slot.step != nullptr && slot.step->open();
  const bool in_body = mark != nullptr && behind().pass.lock() == mark && !module_is_running();
  if (!in_hook && (open || !in_body || value.microbatches())) {
    return false;
  }
  check<RuntimeError>(
      !in_hook || (!open && !value.microbatches()), "assign: ", slot.name,
      " is assigned in a hook on a parameter's gradient, which runs once a training "
      "step, and what it is assigned is the step's microbatches'; keep what the hook "
      "needs of the forward in a buffer of its own");
  check<RuntimeError>(in_hook || behind().ended, "assign: ", slot.name,
                      " is assigned behind optimizer.step() in a pass of its training step that is "
                      "not the last; put that into `if (optimizer.step().ended)`");
  check_assigned(slot, value);
  const Tensor own = kept_copy(value.detach(), slot.value.dtype());
  behind().assigned.emplace_back("value assigned to " + slot.name,
                                 std::to_string(hash_elements(own)));
  slot.put(own);
  return true;
}

bool step_has_ended() {
  const auto& mark = Context::current().pass_mark;
  return mark != nullptr && behind().pass.lock() == mark && behind().ended;
}

Facts assigned_behind_step() {
  return behind().assigned;
}

std::uint64_t hash_of_assigned(const Facts& assigned) {
  std::uint64_t hash = 0;
  for (const auto& [name, value] : assigned) {
    hash = mix(mix(hash, hash_name(name)), hash_name(value));
  }
  return hash;
}

void forget_assigned_behind_step() {
  behind().assigned.clear();
}

}  // namespace tessera::nn
