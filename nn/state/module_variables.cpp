// A module's state as a tree.
#include <unordered_map>

#include <tessera/core/autograd/modes.h>
#include <tessera/core/ops/cast.h>
#include <tessera/nn/state/variables.h>
#include <tessera/nn/tree/module.h>

namespace tessera::nn {
namespace {

/// The slots that `wanted` accepts, each once, detached; their other names are aliases.
template <class Wanted>
Variables tree_of(const Module& module, const Wanted& wanted) {
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

}  // namespace

Variables Module::v() const {
  return tree_of(*this, [](const Slot& slot) { return slot.kind == Slot::Kind::parameter; });
}

Variables Module::variables() const {
  return tree_of(*this, [](const Slot&) { return true; });
}

void Module::set_v(const Variables& values) {
  const std::string difference = v().diff(values);
  check<StructureError>(difference.empty(), class_name(), ": other variables than it has\n",
                        difference);
  const NoGradGuard no_grad;
  for (const auto& [name, parameter] : named_parameters()) {
    const Tensor& own = parameter.slot()->value;
    static_cast<void>(call_into<Cast>(own, {values.at(name)}, {own.dtype()}));
  }
}

}  // namespace tessera::nn
