#include <tessera/nn/build/build.h>

#include <algorithm>

#include <tessera/nn/build/module_options.h>
#include <tessera/nn/tree/module_access.h>

namespace tessera::nn::detail {
namespace {

/// The module's options, changed by `change` from now on.
void change_options(const Module& module, const auto& change) {
  ModuleOptions options = options_of(module);
  change(options);
  build_state_of(module).options = std::make_shared<const ModuleOptions>(std::move(options));
}

}  // namespace

const ModuleOptions& options_of(const Module& module) {
  static const ModuleOptions defaults;
  const ModuleOptions* given = build_state_of(module).options.get();
  return given == nullptr ? defaults : *given;
}

bool built(const Module& module) {
  return std::ranges::all_of(all_modules(module), [](const auto& below) {
    const BuildState& build_state = build_state_of(*below.second);
    return build_state.declared && !build_state.partly;
  });
}

BuildMode build_mode(const Module& module) {
  return options_of(module).build_mode.value_or(BuildMode::on_init);
}

const std::optional<std::string>& name(const Module& module) {
  return options_of(module).name;
}

Device device(const Module& module) {
  const std::vector<Device>& given = options_of(module).devices;
  return options_of(module).device.value_or(given.empty() ? Device{} : given.front());
}

DType dtype(const Module& module) {
  return options_of(module).dtype.value_or(DType::f32);
}

std::vector<Device> devices(const Module& module) {
  const std::vector<Device>& given = options_of(module).devices;
  return given.empty() ? std::vector{device(module)} : given;
}

void check_state_known(const Module& module) {
  const BuildState& build_state = build_state_of(module);
  const BuildMode mode = build_mode(module);
  const bool known = build_state.declared || build_state.lists_state || mode == BuildMode::on_init;
  check<RuntimeError>(known, module.class_name(), ": is not built, so its state is not known; ",
                      mode == BuildMode::on_call ? "call it first" : "build() it first");
}

void adopt(const Module& module, std::optional<Device> device, std::optional<DType> dtype) {
  if (device || dtype) {
    change_options(module, [&](ModuleOptions& options) {
      options.device = device ? device : options.device;
      options.dtype = dtype ? dtype : options.dtype;
    });
  }
}

void adopt_below(Module& module, std::optional<Device> device, std::optional<DType> dtype) {
  for (const auto& [path, below] : all_modules(module)) {
    if (!build_state_of(*below).declared) {
      adopt(*below, device, dtype);
    }
  }
}

bool waits_for_call(const Module& module) {
  return build_state_of(module).lists_state && !build_state_of(module).declared;
}

void mark_built(Module& module) {
  BuildState& build_state = build_state_of(module);
  build_state.declared = true;
  build_state.partly = false;
  build_state.ready = true;
}

void build_if_loaded(Module& module) {
  const std::vector<SlotEntryPtr>& slots = slot_entries(module);
  const bool all = std::ranges::all_of(slots, [](const SlotEntryPtr& entry) {
    return entry->slot == nullptr || entry->slot->value.defined();
  });
  if (waits_for_call(module) && !slots.empty() && all) {
    mark_built(module);
  }
}

void build_on_call(Module& module) {
  build_state_of(module).lists_state = true;
  change_options(module, [](ModuleOptions& options) { options.build_mode = BuildMode::on_call; });
}

}  // namespace tessera::nn::detail
