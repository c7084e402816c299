// What a module says of how it is built.
#include <algorithm>

#include <tessera/nn/build/builder.h>

namespace tessera::nn {

BuildStatus Module::build(const Args& args, const Kwargs& kwargs, const BuildOptions& options) {
  return detail::Builder::build(*this, args, kwargs, options);
}

BuildStatus Module::build(const Args& args, const Kwargs& kwargs) {
  return build(args, kwargs, {});
}

bool Module::built() const {
  return std::ranges::all_of(all_modules(), [](const auto& below) {
    return below.second->declared_ && !below.second->partly_;
  });
}

BuildMode Module::build_mode() const {
  return options_ == nullptr ? BuildMode::on_init
                             : options_->build_mode.value_or(BuildMode::on_init);
}

const std::optional<std::string>& Module::name() const {
  static const std::optional<std::string> none;
  return options_ == nullptr ? none : options_->name;
}

Device Module::device() const {
  if (options_ == nullptr || (!options_->device && options_->devices.empty())) {
    return {};
  }
  return options_->device ? *options_->device : options_->devices.front();
}

DType Module::dtype() const {
  return options_ == nullptr ? DType::f32 : options_->dtype.value_or(DType::f32);
}

std::vector<Device> Module::devices() const {
  return options_ == nullptr || options_->devices.empty() ? std::vector{device()}
                                                          : options_->devices;
}

void Module::check_state_known() const {
  const bool known = declared_ || lists_state_ || build_mode() == BuildMode::on_init;
  check<RuntimeError>(known, class_name(), ": is not built, so its state is not known; ",
                      build_mode() == BuildMode::on_call ? "call it first" : "build() it first");
}

void Module::adopt(std::optional<Device> device, std::optional<DType> dtype) {
  if (!device && !dtype) {
    return;
  }
  ModuleOptions options = options_ == nullptr ? ModuleOptions{} : *options_;
  options.device = device ? device : options.device;
  options.dtype = dtype ? dtype : options.dtype;
  options_ = std::make_shared<const ModuleOptions>(std::move(options));
}

void Module::adopt_below(std::optional<Device> device, std::optional<DType> dtype) {
  for (const auto& [path, module] : all_modules()) {
    if (!module->declared_) {
      module->adopt(device, dtype);
    }
  }
}

void Module::build_if_loaded() {
  const bool all = std::ranges::all_of(slots_, [](const SlotEntryPtr& entry) {
    return entry->slot == nullptr || entry->slot->value.defined();
  });
  const bool waits = lists_state_ && !declared_ && !slots_.empty();
  if (waits && all) {
    declared_ = true;
    ready_ = true;
  }
}

void Module::build_on_call() {
  lists_state_ = true;
  ModuleOptions options = options_ == nullptr ? ModuleOptions{} : *options_;
  options.build_mode = BuildMode::on_call;
  options_ = std::make_shared<const ModuleOptions>(std::move(options));
}

}  // namespace tessera::nn
