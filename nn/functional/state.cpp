#include <tessera/nn/functional/state.h>

#include <algorithm>

#include <tessera/core/base/pass_scope.h>
#include <tessera/core/ops/cast.h>
#include <tessera/nn/functional/function_module.h>

namespace tessera::nn {
FunctionModuleBase::FunctionModuleBase(const FunctionModuleBase& other) : Module(other) {
  for (const Adopted& adopted : other.adopted_) {
    adopted_.push_back({adopted.original, detail::CopyScope::current()->copy(adopted.own)});
  }
}

/// Takes over state: without a name of its own to put them under, `module`'s names become this
/// one's.
void FunctionModuleBase::take_state_of(const Module& module) {
  const auto clash = [&](const std::string& name) {
    fail<ValueError>(class_name(), ": two of the modules that it calls have a \"", name,
                     "\"; the second is a ", module.class_name(), ", and neither has a name");
  };
  for (const SlotEntryPtr& entry : detail::slot_entries(module)) {
    const SlotEntryPtr own = detail::slot_entry(*this, entry->name, entry->kind);
    own->slot == nullptr ? detail::put_slot(*this, own, entry->slot) : clash(entry->name);
  }
  for (const ChildEntryPtr& entry : detail::child_entries(module)) {
    const ChildEntryPtr own = detail::child_entry(*this, entry->name);
    own->module == nullptr ? detail::put_child(*this, own, entry->module) : clash(entry->name);
  }
}

std::string State::declare(std::string_view name, const VariableOptions& options) {
  const auto known = [&](std::string_view candidate) {
    return std::ranges::find(declared_, candidate) != declared_.end();
  };
  std::string unique(name);
  for (int n = 1; options.mode == DeclareMode::append && known(unique); ++n) {
    unique = std::string(name) + "_" + std::to_string(n);
  }
  check<ValueError>(options.mode != DeclareMode::strict || !known(unique), "variable: \"", name,
                    "\" is declared twice in one call of ", module_.class_name());
  return unique;
}

Tensor State::variable(std::string_view name, const std::function<Tensor()>& make,
                       const VariableOptions& options) {
  const std::string own = declare(name, options);
  const bool again = std::ranges::find(declared_, own) != declared_.end();
  declared_.push_back(own);
  const bool keeps = again && options.mode == DeclareMode::conditional_clobber;
  if (initialised_ != nullptr && !keeps) {
    const PassScope outside(Pass{});  // what is drawn is the same for all samples
    const Tensor value = clone(make().detach());
    if (options.trainable) {
      initialised_->register_parameter(own, value);
    } else {
      initialised_->register_buffer(own, value);
    }
  }
  const SlotEntryPtr entry = detail::find_slot(module_, own);
  check<KeyError>(entry != nullptr && entry->slot != nullptr, "variable: \"", own,
                  "\" was not declared when ", module_.class_name(), " was initialised");
  return read_slot(*entry->slot);
}

void State::assign(std::string_view name, const Tensor& value) {
  const SlotEntryPtr entry = detail::find_slot(module_, name);
  check<ValueError>(entry != nullptr && entry->slot != nullptr, "assign: \"", name,
                    "\" is no variable of ", module_.class_name());
  write_slot(entry->slot, value);
}

ModulePtr State::adopt(const ModulePtr& module) {
  const auto& adopted = module_.adopted_;
  const auto known =
      std::ranges::find(adopted, module.get(), &FunctionModuleBase::Adopted::original);
  if (known != adopted.end()) {
    return known->own;
  }
  check<ValueError>(initialised_ != nullptr, module_.class_name(), ": calls a ",
                    module->class_name(), " that it did not call when it was initialised");
  if (const std::optional<std::string>& name = module->name()) {
    const ChildEntryPtr entry = detail::child_entry(*initialised_, *name);
    check<ValueError>(entry->module == nullptr, module_.class_name(),
                      ": two of the modules that it calls are named \"", *name, "\"");
    detail::put_child(*initialised_, entry, module);
  } else {
    initialised_->take_state_of(*module);
  }
  initialised_->adopted_.push_back({module.get(), module});
  return module;
}

}  // namespace tessera::nn
