#include <tessera/dist/parallel/watched_model.h>

#include <algorithm>

#include <tessera/core/base/philox.h>

namespace tessera::dist {
namespace {

template <class F>
void for_each_slot(const nn::Module& module, const F& f) {
  for (const nn::SlotEntryPtr& entry : nn::detail::slot_entries(module)) {
    if (entry->slot != nullptr) {
      f(entry->slot);
    }
  }
}

bool is_parameter(const nn::Slot& slot) {
  return slot.kind == nn::Slot::Kind::parameter && slot.value.defined();
}

/// Not even where another slot has come to lie at its address.
bool is_same(const std::weak_ptr<nn::Slot>& seen, const nn::SlotPtr& slot) {
  return !seen.owner_before(slot) && !slot.owner_before(seen);
}

}  // namespace

WatchedModel::Seen WatchedModel::see(const nn::SlotPtr& slot) {
  if (!is_parameter(*slot)) {
    return {.slot = slot, .value = {}};
  }
  return {.slot = slot,
          .value = slot->value,
          .version = slot->value.version(),
          .trained = slot->value.requires_grad()};
}

WatchedModel::Change WatchedModel::compare(const Seen& seen, const nn::SlotPtr& slot) {
  if (!is_same(seen.slot, slot) || seen.value.defined() != is_parameter(*slot)) {
    return Change::structure;
  }
  if (!seen.value.defined()) {
    return Change::none;
  }
  const Tensor& value = slot->value;
  if (&value.get() != &seen.value.get()) {
    return Change::structure;
  }
  if (value.requires_grad() != seen.trained) {
    return Change::trained;
  }
  return value.version() != seen.version ? Change::values : Change::none;
}

void WatchedModel::look() {
  change_ = Change::none;
  const std::shared_ptr<nn::Module> model = model_.lock();
  if (model == nullptr) {
    return;
  }
  std::size_t i = 0;
  modes_ = 0;
  const auto look_at = [&](nn::Module& module) {
    modes_ = mix(modes_, module.training() ? 1 : 0);
    for_each_slot(module, [&](const nn::SlotPtr& slot) {
      const bool known = i < agreed_.size();
      change_ = std::max(change_, known ? compare(agreed_[i], slot) : Change::structure);
      ++i;
    });
  };
  model->apply(look_at, true);
  if (i != agreed_.size()) {
    change_ = Change::structure;
  }
}

void WatchedModel::accept() {
  agreed_.clear();
  change_ = Change::none;
  if (const std::shared_ptr<nn::Module> model = model_.lock(); model != nullptr) {
    const auto accept_all = [&](nn::Module& module) {
      for_each_slot(module, [&](const nn::SlotPtr& slot) { agreed_.push_back(see(slot)); });
    };
    model->apply(accept_all, true);
  }
}

void WatchedModel::accept_update() {
  for (Seen& seen : agreed_) {
    if (seen.trained) {
      seen.version = seen.value.version();
    }
  }
}

bool WatchedModel::is_new(const nn::SlotPtr& slot) const {
  const auto seen = std::ranges::find_if(
      agreed_, [&](const Seen& candidate) { return is_same(candidate.slot, slot); });
  return seen == agreed_.end() ||
         (is_parameter(*slot) &&
          (!seen->value.defined() || &seen->value.get() != &slot->value.get()));
}

Facts WatchedModel::facts() const {
  const std::shared_ptr<nn::Module> model = model_.lock();
  if (model == nullptr) {
    return {};
  }
  Facts facts = facts_of(*model);
  auto fact = facts.begin();
  for (const auto& [name, slot] : model->named_slots()) {
    fact->second += is_new(slot) ? ", new" : "";
    ++fact;
  }
  for (const auto& [path, module] : model->named_modules()) {
    facts.emplace_back("the mode of " + (path.empty() ? module->class_name() : path),
                       module->training() ? "training" : "evaluation");
  }
  return facts;
}

}  // namespace tessera::dist
