// Copying trees of modules.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>

#include <tessera/nn/tree/entries.h>

namespace tessera::nn::detail {

/// While it lives, modules may be copied on this thread: their copy constructors make new slots,
/// copy children by their recorded classes, and keep ties and sharing inside what is copied. No
/// initialiser and no hook runs.
///
/// Copies of Parameter, Buffer and Child members find their counterparts here, so that a module's
/// ordinary copy constructor copies it right.
class CopyScope {
 public:
  /// The value of the copy of a slot; undefined leaves it without one.
  using ValueOf = std::function<Tensor(const Slot&)>;

  explicit CopyScope(ValueOf value_of);
  ~CopyScope();
  CopyScope(const CopyScope&) = delete;
  CopyScope& operator=(const CopyScope&) = delete;
  /// The innermost on this thread, or null.
  static CopyScope* current() noexcept;

  /// The copy of a slot or module; null of null. Throws Unsupported naming a class without a copy
  /// constructor.
  [[nodiscard]] SlotPtr copy(const SlotPtr& slot);
  [[nodiscard]] ModulePtr copy(const ModulePtr& module);
  [[nodiscard]] SlotEntryPtr copy(const SlotEntryPtr& entry);
  [[nodiscard]] ChildEntryPtr copy(const ChildEntryPtr& entry);

 private:
  ValueOf value_of_;
  CopyScope* outer_;
  std::unordered_map<const void*, std::shared_ptr<void>> copies_;
};

/// A copy of the tree whose slots hold what `value_of` makes of the old ones.
[[nodiscard]] ModulePtr copy_with(const Module& module, const CopyScope::ValueOf& value_of);
/// See Module::clone.
[[nodiscard]] ModulePtr clone(const Module& module);

/// What a member's handle becomes when it is copied: inside a CopyScope the copy's entry, otherwise
/// the same one.
template <class Entry>
std::shared_ptr<Entry> counterpart(const std::shared_ptr<Entry>& entry) {
  CopyScope* scope = CopyScope::current();
  return scope == nullptr || entry == nullptr ? entry : scope->copy(entry);
}

}  // namespace tessera::nn::detail
