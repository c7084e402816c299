// Finding modules, parameters and buffers by dotted path.
#include <tessera/nn/tree/module.h>

namespace tessera::nn {
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

}  // namespace

Module& Module::get_submodule(std::string_view path) const {
  const Module* module = this;
  std::size_t from = path.empty() ? std::string_view::npos : 0;
  while (from != std::string_view::npos) {
    const std::size_t dot = path.find('.', from);
    const std::string_view step = path.substr(from, dot - from);
    const ChildEntryPtr entry = module->find_child(step);
    if (entry == nullptr || entry->module == nullptr) {
      fail_lookup(*module, "module", step, entry != nullptr ? kReserved : module->kind_of(step),
                  path);
    }
    module = entry->module.get();
    from = dot == std::string_view::npos ? dot : dot + 1;
  }
  return const_cast<Module&>(*module);
}

void Module::set_submodule(std::string_view path, const ModulePtr& module, bool strict) {
  check<ValueError>(!path.empty(), "set_submodule: the path must not be empty");
  check<ValueError>(module != nullptr, "set_submodule: no module given for \"", path, "\"");
  const auto [above, last] = split(path);
  Module& parent = get_submodule(above);
  const ChildEntryPtr known = parent.find_child(last);
  const char* found = known != nullptr ? kReserved : parent.kind_of(last);
  if (known != nullptr ? known->module == nullptr : found != nullptr || strict) {
    fail_lookup(parent, "module", last, found, path);
  }
  parent.put_child(last, module);
}

Parameter Module::get_parameter(std::string_view path) const {
  const auto [above, last] = split(path);
  const Module& parent = get_submodule(above);
  const SlotEntryPtr entry = parent.find_slot(last);
  if (entry == nullptr || entry->kind != Slot::Kind::parameter) {
    fail_lookup(parent, "parameter", last, parent.kind_of(last), path);
  }
  if (entry->slot == nullptr) {
    fail_lookup(parent, "parameter", last, kReserved, path);
  }
  return Parameter(entry);
}

std::optional<Tensor> Module::get_buffer(std::string_view path) const {
  const auto [above, last] = split(path);
  const Module& parent = get_submodule(above);
  const SlotEntryPtr entry = parent.find_slot(last);
  if (entry == nullptr || entry->kind != Slot::Kind::buffer) {
    fail_lookup(parent, "buffer", last, parent.kind_of(last), path);
  }
  return entry->slot == nullptr ? std::nullopt : std::optional(read_slot(*entry->slot));
}

}  // namespace tessera::nn
