// A module as data: its tensors and the rest.
#include <algorithm>
#include <typeinfo>
#include <unordered_map>

#include <tessera/nn/state/tree_def.h>

namespace tessera::nn {
namespace {

/// The place among the leaves of every slot of a tree.
std::unordered_map<const Slot*, std::size_t> places_of(const Module& module) {
  std::unordered_map<const Slot*, std::size_t> places;
  for (const auto& [name, slot] : module.named_slots()) {
    places.try_emplace(slot.get(), places.size());
  }
  return places;
}

bool same_node(const Module& a, const Module& b) {
  return typeid(a) == typeid(b) && a.class_name() == b.class_name() &&
         a.training() == b.training() && a.extra_repr() == b.extra_repr();
}

}  // namespace

std::size_t TreeDef::leaf_count() const {
  return places_of(*prototype_).size();
}

bool operator==(const TreeDef& a, const TreeDef& b) {
  const auto modules_a = a.prototype_->named_modules(nullptr, "", false);
  const auto modules_b = b.prototype_->named_modules(nullptr, "", false);
  const auto slots_a = a.prototype_->named_slots();
  const auto slots_b = b.prototype_->named_slots();
  const auto places_a = places_of(*a.prototype_);
  const auto places_b = places_of(*b.prototype_);
  return std::ranges::equal(modules_a, modules_b,
                            [](const auto& x, const auto& y) {
                              return x.first == y.first && same_node(*x.second, *y.second);
                            }) &&
         std::ranges::equal(slots_a, slots_b, [&](const auto& x, const auto& y) {
           return x.first == y.first && x.second->kind == y.second->kind &&
                  places_a.at(x.second.get()) == places_b.at(y.second.get());
         });
}

std::pair<std::vector<Tensor>, TreeDef> detail::flatten(const Module& module) {
  std::vector<Tensor> leaves(places_of(module).size());
  for (const auto& [slot, place] : places_of(module)) {
    leaves[place] = slot->value.defined() ? slot->value.detach() : Tensor();
  }
  return {std::move(leaves), TreeDef(copy_with(module, [](const Slot&) { return Tensor(); }))};
}

ModulePtr detail::unflatten(const TreeDef& definition, std::span<const Tensor> leaves) {
  const auto places = places_of(definition.prototype());
  check<StructureError>(places.size() == leaves.size(), "unflatten: got ", leaves.size(),
                        " leaves, expected ", places.size());
  return copy_with(definition.prototype(),
                   [&](const Slot& slot) { return leaves[places.at(&slot)]; });
}

}  // namespace tessera::nn
