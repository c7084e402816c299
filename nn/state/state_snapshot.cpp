#include <tessera/nn/state/state_snapshot.h>

#include <ranges>

#include <tessera/core/base/log.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/nn/state/overwrite.h>

namespace tessera::nn {

StateSnapshot::StateSnapshot(const Module& root) {
  for (const auto& [name, slot] : root.named_slots()) {
    const Tensor& value = slot->value;
    const Tensor copy = value.defined() ? cast(value.detach(), value.dtype(), true) : Tensor();
    slots_.push_back({slot, value, copy, slot->dtype, slot->shape});
  }
}

void StateSnapshot::restore() const {
  const NoGradGuard no_grad;
  for (const Saved& saved : slots_) {
    if (saved.value.defined() && detail::why_not_written(saved.value, saved.copy).empty()) {
      detail::overwrite(saved.value, saved.copy);
    }
    saved.slot->value = saved.value;
    saved.slot->dtype = saved.dtype;
    saved.slot->shape = saved.shape;
  }
  // A module with several names was kept several times, first as it was before the load.
  for (const auto& [module, state] : extra_ | std::views::reverse) {
    try {
      module->set_extra_state(state);
    } catch (const std::exception& error) {
      log_warning("load_state_dict: extra state could not be put back: ", error.what());
    }
  }
}

}  // namespace tessera::nn
