#include <tessera/nn/tree/lookup.h>

#include <algorithm>

#include <tessera/nn/tree/module_access.h>

namespace tessera::nn::detail {
namespace {

constexpr const char* kReserved = "reserved name";

struct Path {
  std::string_view parent;  ///< empty when there is one step only
  std::string_view last;
};

Path split(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? Path{"", path}
                                       : Path{path.substr(0, dot), path.substr(dot + 1)};
}

/// Says why `step` of `path` is not the `wanted` of `module`, where it is a `found` or nothing.
[[noreturn]] void fail_lookup(const Module& module, const char* wanted, std::string_view step,
                              const char* found, std::string_view path) {
  check<AttributeError>(found == nullptr, "\"", step, "\" in ", module.class_name(), " is a ",
                        found == nullptr ? "" : found, ", not a ", wanted);
  fail<AttributeError>(module.class_name(), " has no ", wanted, " \"", step, "\" (in path \"", path,
                       "\")");
}

/// The entry with that name, or null.
template <class Entry>
Entry find(const std::vector<Entry>& entries, std::string_view name) {
  const auto found =
      std::ranges::find_if(entries, [&](const Entry& entry) { return entry->name == name; });
  return found == entries.end() ? nullptr : *found;
}

/// Throws AttributeError for what is missing or of another kind.
SlotEntryPtr entry_at(const Module& root, std::string_view path, Slot::Kind kind) {
  const auto [above, last] = split(path);
  const Module& parent = get_submodule(root, above);
  const SlotEntryPtr entry = find_slot(parent, last);
  if (entry == nullptr || entry->kind != kind) {
    fail_lookup(parent, to_string(kind), last, kind_of(parent, last), path);
  }
  return entry;
}

}  // namespace

const char* to_string(Slot::Kind kind) {
  return kind == Slot::Kind::parameter ? "parameter" : "buffer";
}

SlotEntryPtr find_slot(const Module& module, std::string_view name) {
  return find(slot_entries(module), name);
}

ChildEntryPtr find_child(const Module& module, std::string_view name) {
  return find(child_entries(module), name);
}

const char* kind_of(const Module& module, std::string_view name) {
  if (const SlotEntryPtr entry = find_slot(module, name)) {
    return to_string(entry->kind);
  }
  return find_child(module, name) == nullptr ? nullptr : "module";
}

Module& get_submodule(const Module& root, std::string_view path) {
  Module* module = &self(root);
  std::size_t from = path.empty() ? std::string_view::npos : 0;
  while (from != std::string_view::npos) {
    const std::size_t dot = path.find('.', from);
    const std::string_view step = path.substr(from, dot - from);
    const ChildEntryPtr entry = find_child(*module, step);
    if (entry == nullptr || entry->module == nullptr) {
      fail_lookup(*module, "module", step, entry != nullptr ? kReserved : kind_of(*module, step),
                  path);
    }
    module = entry->module.get();
    from = dot == std::string_view::npos ? dot : dot + 1;
  }
  return *module;
}

void set_submodule(Module& module, std::string_view path, const ModulePtr& child, bool strict) {
  check<ValueError>(!path.empty(), "set_submodule: the path must not be empty");
  check<ValueError>(child != nullptr, "set_submodule: no module given for \"", path, "\"");
  const auto [above, last] = split(path);
  Module& parent = get_submodule(module, above);
  const ChildEntryPtr known = find_child(parent, last);
  const char* found = known != nullptr ? kReserved : kind_of(parent, last);
  if (known != nullptr ? known->module == nullptr : found != nullptr || strict) {
    fail_lookup(parent, "module", last, found, path);
  }
  put_child(parent, last, child);
}

Parameter get_parameter(const Module& module, std::string_view path) {
  const SlotEntryPtr entry = entry_at(module, path, Slot::Kind::parameter);
  if (entry->slot == nullptr) {
    const auto [above, last] = split(path);
    fail_lookup(get_submodule(module, above), "parameter", last, kReserved, path);
  }
  return Parameter(entry);
}

std::optional<Tensor> get_buffer(const Module& module, std::string_view path) {
  const SlotEntryPtr entry = entry_at(module, path, Slot::Kind::buffer);
  return entry->slot == nullptr ? std::nullopt : std::optional(read_slot(*entry->slot));
}

}  // namespace tessera::nn::detail
