// The names in a module: adding, filling and freeing them. What members of Module do has its
// description there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <tessera/nn/parameter.h>
#include <tessera/nn/tree/entries.h>

namespace tessera::nn::detail {

Parameter register_parameter(Module& module, const std::string& name, const Tensor& value,
                             bool requires_grad);
Buffer register_buffer(Module& module, const std::string& name, const Tensor& value,
                       bool persistent);
void set(Module& module, std::string_view name, std::nullptr_t);
void erase(Module& module, std::string_view name);

/// Reserves a name for a parameter or buffer.
SlotEntryPtr reserve(Module& module, const std::string& name, Slot::Kind kind);
/// The entry of a name, new or of the same kind. Throws KeyError for a bad name.
SlotEntryPtr slot_entry(Module& module, std::string_view name, Slot::Kind kind);
ChildEntryPtr child_entry(Module& module, std::string_view name);
/// Puts `slot` or `child` behind a name, as the registration hooks give it; null reserves it.
void put_slot(Module& module, const SlotEntryPtr& entry, SlotPtr slot);
void put_child(Module& module, const ChildEntryPtr& entry, ModulePtr child);
void put_child(Module& module, std::string_view name, ModulePtr child);
/// Makes `module` one more parent of `child`, which may be null; true for the first.
bool own(const Module& module, const ModulePtr& child);
/// Takes one name for `child` back: its next parent, if there is one, becomes the first.
void disown(const Module& module, const ModulePtr& child);

}  // namespace tessera::nn::detail
