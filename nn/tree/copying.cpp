#include <tessera/nn/tree/copying.h>

#include <utility>

#include <tessera/core/device/memory_stats.h>
#include <tessera/core/ops/cast.h>
#include <tessera/nn/tree/module_access.h>

namespace tessera::nn {
namespace detail {
namespace {

constinit thread_local CopyScope* current_scope = nullptr;

/// The copy in `copies`, made by `make` where it is new.
template <class T, class Make>
std::shared_ptr<T> once(std::unordered_map<const void*, std::shared_ptr<void>>& copies,
                        const std::shared_ptr<T>& original, const Make& make) {
  if (original == nullptr) {
    return nullptr;
  }
  if (const auto known = copies.find(original.get()); known != copies.end()) {
    return std::static_pointer_cast<T>(known->second);
  }
  std::shared_ptr<T> copy = make();
  copies.emplace(original.get(), copy);
  return copy;
}

}  // namespace

CopyScope::CopyScope(ValueOf value_of)
    : value_of_(std::move(value_of)), outer_(std::exchange(current_scope, this)) {}

CopyScope::~CopyScope() {
  current_scope = outer_;
}

CopyScope* CopyScope::current() noexcept {
  return current_scope;
}

SlotPtr CopyScope::copy(const SlotPtr& slot) {
  return once(copies_, slot, [&] {
    auto copy = std::make_shared<Slot>(*slot);
    copy->ownership = nullptr;
    copy->step = nullptr;
    copy->value = {};  // whose hooks are the original's alone
    copy->set_requires_grad(slot->requires_grad());
    const Tensor value = value_of_(*slot);
    copy->put(value.defined() && value.is_leaf() ? value.detach() : value);
    return copy;
  });
}

ModulePtr CopyScope::copy(const ModulePtr& module) {
  return once(copies_, module, [&] {
    const ClassInfo& info = class_info(*module);
    check<Unsupported>(info.copy != nullptr, module->class_name(),
                       ": cannot be copied; it has no copy constructor");
    return info.copy(*module);
  });
}

SlotEntryPtr CopyScope::copy(const SlotEntryPtr& entry) {
  return once(copies_, entry, [&] {
    return std::make_shared<SlotEntry>(entry->name, entry->kind, copy(entry->slot));
  });
}

ChildEntryPtr CopyScope::copy(const ChildEntryPtr& entry) {
  return once(copies_, entry, [&] {
    return std::make_shared<ChildEntry>(entry->name, copy(entry->module), entry->declared);
  });
}

}  // namespace detail

Module::Module(const Module& other)
    : std::enable_shared_from_this<Module>(),
      data_{.info = other.data_.info,
            .build = other.data_.build,
            .self = this,
            .training = other.data_.training} {
  data_.build.tracked.clear();
  detail::CopyScope* scope = detail::CopyScope::current();
  check<RuntimeError>(scope != nullptr, data_.info->name, ": modules are copied with clone()");
  for (const SlotEntryPtr& entry : other.data_.slots) {
    data_.slots.push_back(scope->copy(entry));
  }
  for (const ChildEntryPtr& entry : other.data_.children) {
    data_.children.push_back(scope->copy(entry));
    detail::own(*this, data_.children.back()->module);
  }
}

ModulePtr detail::copy_with(const Module& module, const CopyScope::ValueOf& value_of) {
  CopyScope scope(value_of);
  return scope.copy(self(module).shared_from_this());
}

ModulePtr detail::clone(const Module& module) {
  const CategoryScope category(MemoryCategory::parameter);
  return copy_with(module, [](const Slot& slot) {
    return slot.value.defined() ? cast(slot.value.detach(), slot.value.dtype(), true) : Tensor();
  });
}

}  // namespace tessera::nn
