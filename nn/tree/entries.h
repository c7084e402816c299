// The names in a module: what a member such as `nn::Child<nn::Linear> fc{this, "fc", 4, 8}` and the
// tree share, so that what a name stands for can be replaced under both.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include <tessera/core/base/error.h>
#include <tessera/nn/slot.h>
#include <tessera/nn/tree/class_info.h>

namespace tessera::nn {

class Module;
using ModulePtr = std::shared_ptr<Module>;

/// A parameter's or buffer's name. Without a slot the name is reserved: nothing is saved, moved or
/// listed under it.
struct SlotEntry {
  std::string name;
  Slot::Kind kind = Slot::Kind::parameter;
  SlotPtr slot;
};

/// A child's name; without a module it is reserved.
struct ChildEntry {
  std::string name;
  ModulePtr module;
  const ClassInfo* declared = nullptr;  ///< class of the member that holds it; null: any will do
};

using SlotEntryPtr = std::shared_ptr<SlotEntry>;
using ChildEntryPtr = std::shared_ptr<ChildEntry>;

namespace detail {

/// A path with one more step.
[[nodiscard]] inline std::string dotted(std::string_view path, std::string_view name) {
  return path.empty() ? std::string(name) : tessera::detail::concat(path, '.', name);
}

/// The name of what is put behind `entries` that are numbered: the first number from their count on
/// that none of them has.
[[nodiscard]] std::string next_number(const auto& entries) {
  std::size_t number = entries.size();
  const auto taken = [&](const auto& entry) { return entry->name == std::to_string(number); };
  while (std::ranges::any_of(entries, taken)) {
    ++number;
  }
  return std::to_string(number);
}

}  // namespace detail

}  // namespace tessera::nn
