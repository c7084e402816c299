#include <tessera/nn/build/construction.h>

#include <algorithm>
#include <utility>

#include <tessera/core/base/error.h>

namespace tessera::nn::detail {
namespace {

constinit thread_local Construction* innermost = nullptr;

using OptionsPtr = std::shared_ptr<const ModuleOptions>;

void check_devices(const ModuleOptions& options) {
  const bool listed = !options.device || options.devices.empty() ||
                      std::ranges::find(options.devices, *options.device) != options.devices.end();
  for (const Device& device : options.devices) {
    check_available(device);
  }
  check<ValueError>(listed, "ModuleOptions: the device is none of devices; got ",
                    options.device.value_or(Device{}));
}

/// What a module takes over from the one that constructs it.
OptionsPtr inherited(const OptionsPtr& outer) {
  if (outer == nullptr || (!outer->name && !outer->v)) {
    return outer;
  }
  ModuleOptions options = *outer;
  options.name.reset();
  options.v.reset();
  options.with_partial_v = false;
  return std::make_shared<const ModuleOptions>(std::move(options));
}

bool all_default(const ModuleOptions& o) {
  return !o.name && !o.device && o.devices.empty() && !o.dtype && !o.v && !o.build_mode &&
         !o.store_vars;
}

/// `own`, with what it leaves open taken from `outer`.
OptionsPtr resolve(const ModuleOptions& own, const OptionsPtr& outer) {
  if (all_default(own)) {
    return inherited(outer);
  }
  check_devices(own);
  ModuleOptions options = own;
  if (outer != nullptr) {
    if (!own.device && own.devices.empty()) {
      options.device = outer->device;
      options.devices = outer->devices;
    }
    options.dtype = own.dtype ? own.dtype : outer->dtype;
    options.build_mode = own.build_mode ? own.build_mode : outer->build_mode;
    options.store_vars = own.store_vars ? own.store_vars : outer->store_vars;
  }
  return std::make_shared<const ModuleOptions>(std::move(options));
}

}  // namespace

Construction::Construction(const ClassInfo& info, const ModuleOptions& options)
    : pending_(&info),
      options_(resolve(options, innermost == nullptr ? nullptr : innermost->options_)),
      outer_(std::exchange(innermost, this)) {}

Construction::Construction(OptionsPtr options)
    : pending_(nullptr), options_(std::move(options)), outer_(std::exchange(innermost, this)) {}

Construction::~Construction() {
  innermost = outer_;
}

Construction::Start Construction::start() {
  static const ClassInfo unknown{.name = "Module"};
  if (innermost == nullptr) {
    return {&unknown, nullptr};
  }
  const ClassInfo* info = std::exchange(innermost->pending_, nullptr);
  return info == nullptr ? Start{&unknown, inherited(innermost->options_)}
                         : Start{info, innermost->options_};
}

}  // namespace tessera::nn::detail
