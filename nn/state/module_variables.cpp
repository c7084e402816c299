// A module's state as a tree.
#include <unordered_map>
#include <utility>
#include <vector>

#include <tessera/nn/state/overwrite.h>
#include <tessera/nn/state/variables.h>
#include <tessera/nn/tree/module.h>

namespace tessera::nn {
namespace {

using tessera::detail::concat;

/// The slots that `wanted` accepts, each once, detached; their other names are aliases.
Variables tree_of(const Module& module, const auto& wanted) {
  Variables tree;
  std::unordered_map<const Slot*, std::string> first_names;
  for (const auto& [name, slot] : module.named_slots()) {
    if (!wanted(*slot)) {
      continue;
    }
    const auto [first, added] = first_names.try_emplace(slot.get(), name);
    if (added) {
      tree.set(name, slot->value.defined() ? slot->value.detach() : Tensor());
    } else {
      tree.add_alias(name, first->second);
    }
  }
  return tree;
}

/// A line for each parameter that cannot take its value though the structure is the same.
std::string misfits(const Named<Parameter>& parameters, const Variables& values) {
  std::string lines;
  for (const auto& [name, parameter] : parameters) {
    const Tensor& own = parameter.slot()->value;
    const Tensor& given = values.at(name);
    if (own.defined() != given.defined()) {
      lines += concat(own.defined() ? "no value for \"" : "not made yet: \"", name, "\"\n");
    } else if (own.defined() && !detail::why_not_written(own, given).empty()) {
      lines += concat('"', name, "\": ", detail::why_not_written(own, given), '\n');
    }
  }
  return lines.substr(0, lines.size() - (lines.empty() ? 0 : 1));
}

}  // namespace

Variables detail::v(const Module& module) {
  return tree_of(module, [](const Slot& slot) { return slot.kind == Slot::Kind::parameter; });
}

Variables detail::variables(const Module& module) {
  return tree_of(module, [](const Slot&) { return true; });
}

void detail::set_v(Module& module, const Variables& values) {
  const auto refuse = [&](const std::string& difference) {
    check<StructureError>(difference.empty(), module.class_name(),
                          ": other variables than it has\n", difference);
  };
  refuse(v(module).diff(values));
  const Named<Parameter> parameters = module.named_parameters();
  refuse(misfits(parameters, values));
  std::vector<Write> writes;
  for (const auto& [name, parameter] : parameters) {
    if (const Tensor& own = parameter.slot()->value; own.defined()) {
      writes.push_back({own, values.at(name)});
    }
  }
  overwrite_all(std::move(writes));
}

}  // namespace tessera::nn
