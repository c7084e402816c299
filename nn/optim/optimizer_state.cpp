// Saving and loading the state of optimizers.
#include <algorithm>
#include <map>
#include <optional>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/core/tensor/transfer.h>
#include <tessera/nn/optim/optimizer.h>
#include <tessera/nn/state/overwrite.h>

namespace tessera::optim {
namespace {

std::string group_prefix(std::size_t group) {
  return "group." + std::to_string(group) + ".";
}

constexpr const char* kStepsOf = "steps/";
constexpr const char* kGroupOf = "group/";

std::string tensor_name(std::string_view kind, const std::string& parameter) {
  return std::string(kind) + "/" + parameter;
}

}  // namespace

OptimizerState Optimizer::state() const {
  for (const Item& item : items_) {
    const nn::Slot& slot = *item.slot;
    const std::int64_t all = numel_of(slot.shape);
    const std::int64_t own =
        slot.ownership != nullptr ? slot.ownership->own_range(slot).count : all;
    check<RuntimeError>(item.state.empty() || own == all, "optimizer: this rank keeps a part of ",
                        "the state; got ", own, " of ", all, " elements of ", slot.name,
                        ", expected all of them: dist::save_training saves what all ranks keep");
  }
  return own_state();
}

void Optimizer::gather_state() const {
  std::ranges::for_each(ownerships(), &nn::Ownership::gather_states);
}

OptimizerState Optimizer::own_state() const {
  const std::vector<std::string> names = this->names();
  OptimizerState state;
  state.numbers.emplace_back("steps", static_cast<double>(steps_));
  for (std::size_t n = 0; n < items_.size(); ++n) {
    const Item& item = items_[n];
    const std::vector<StateKind> kinds = state_kinds(item.group, item.slot->shape);
    for (std::size_t i = 0; i < std::min(kinds.size(), item.state.size()); ++i) {
      state.tensors.emplace_back(tensor_name(kinds[i].name, names[n]), item.state[i]);
    }
    if (item.steps != steps_) {
      state.numbers.emplace_back(kStepsOf + names[n], static_cast<double>(item.steps));
    }
    if (group_count() > 1) {
      state.numbers.emplace_back(kGroupOf + names[n], static_cast<double>(item.group));
    }
  }
  for (std::size_t group = 0; group < group_count(); ++group) {
    read_options(group, [&](std::string_view name, double value) {
      state.numbers.emplace_back(group_prefix(group) + std::string(name), value);
    });
  }
  return state;
}

void Optimizer::check_between_steps() const {
  for (const Item& item : items_) {
    check<RuntimeError>(
        !item.slot->value.defined() || !item.slot->value.grad().defined(), "optimizer: \"",
        item.slot->name, "\" has a gradient that no step has used ",
        "and a checkpoint would lose; save after optimizer.step() in the last pass ",
        "of a step, or drop the gradient with zero_grad()");
  }
}

/// Each parameter with its saved tensors, of which one that was never updated has none.
Optimizer::Matched Optimizer::match_tensors(const OptimizerState& state) {
  std::map<std::string, Tensor> saved(state.tensors.begin(), state.tensors.end());
  Matched found;
  for (const std::string& own : names()) {
    Item& item = items_[found.size()];
    std::vector<Tensor> tensors;
    std::string missing;
    for (const auto& [kind, shape] : state_kinds(item.group, item.slot->shape)) {
      const std::string name = tensor_name(kind, own);
      const auto entry = saved.find(name);
      if (entry == saved.end()) {
        missing = name;
        continue;
      }
      check(entry->second.shape() == shape, "load_state: wrong shape of ", name, "; got ",
            entry->second.shape(), ", expected ", shape);
      check(!is_complex(entry->second.dtype()) && entry->second.device().type != DeviceType::meta,
            "load_state: ", name, " is no state; got ", entry->second.dtype(), " on ",
            entry->second.device());
      check(item.slot->value.defined(), "load_state: ", own,
            " has no value yet; build the model before");
      tensors.push_back(entry->second);
      saved.erase(entry);
    }
    const bool whole = missing.empty() || (tensors.empty() && item.steps == 0);
    check(whole, "load_state: no tensor named ", missing, "; its parameter was updated ",
          item.steps, " times");
    found.emplace_back(&item, std::move(tensors));
  }
  check(saved.empty(), "load_state: no parameter for the tensor ",
        saved.empty() ? "" : saved.begin()->first);
  return found;
}

/// The number that each group has in a state, whose groups may come in another order: that of the
/// group in which its parameters were. Groups without one that the state knows take what is left.
std::vector<std::size_t> Optimizer::saved_groups(Numbers& saved) const {
  std::vector<std::optional<std::size_t>> found(group_count());
  std::vector<bool> taken(group_count());
  const std::vector<std::string> names = this->names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto entry = saved.extract(kGroupOf + names[i]);
    if (entry.empty()) {
      continue;
    }
    const bool known = entry.mapped() >= 0 && entry.mapped() < static_cast<double>(taken.size());
    const std::size_t number = known ? static_cast<std::size_t>(entry.mapped()) : taken.size();
    std::optional<std::size_t>& own = found[items_[i].group];
    const bool first = known && !own && !taken[number];
    check(first || own == number, "load_state: the groups are made of other parameters; got ",
          names[i], " in group ", items_[i].group, ", where the state has it in its group ",
          entry.mapped(), own ? " and others in its group " : ", which is also another's here",
          own ? std::to_string(*own) : "");
    own = number;
    taken[number] = true;
  }
  std::vector<std::size_t> numbers;
  for (std::size_t rest = 0; const std::optional<std::size_t>& own : found) {
    while (!own && taken[rest]) {
      ++rest;
    }
    numbers.push_back(own ? *own : rest++);
  }
  return numbers;
}

void Optimizer::load_numbers(const OptimizerState& state) {
  Numbers saved(state.numbers.begin(), state.numbers.end());
  const auto number = [&](const std::string& name) {
    const auto entry = saved.find(name);
    check(entry != saved.end(), "load_state: no number named ", name,
          "; the state is not whole, or of an optimizer with other groups or options");
    return saved.extract(entry).mapped();
  };
  const auto count = [&](const std::string& name) {
    const double value = number(name);
    check(value >= 0 && value <= 0x1p53, "load_state: ", name, " is no count; got ", value);
    return static_cast<std::int64_t>(value);
  };
  std::size_t groups_saved = group_count();
  while (saved.contains(group_prefix(groups_saved) + "lr")) {
    ++groups_saved;
  }
  check(groups_saved == group_count(), "load_state: wrong number of groups in the state; got ",
        groups_saved, ", expected the optimizer's ", group_count());
  steps_ = count("steps");
  for (std::size_t i = 0; const std::string& own : names()) {
    const std::string name = kStepsOf + own;
    items_[i++].steps = saved.contains(name) ? count(name) : steps_;
  }
  const std::vector<std::size_t> groups = saved_groups(saved);
  write_options([&](std::size_t group, std::string_view name, double /*now*/) {
    return number(group_prefix(groups[group]) + std::string(name));
  });
  check(saved.empty(), "load_state: no parameter or option for the number ",
        saved.empty() ? "" : saved.begin()->first);
}

/// What `load_state` is to copy where. Options, on which it depends what is kept, are those of
/// `state` afterwards, or, where it throws, what they were.
Optimizer::Matched Optimizer::match(const OptimizerState& state) {
  const OptimizerState before{.tensors = {}, .numbers = own_state().numbers};
  try {
    load_numbers(state);
    return match_tensors(state);
  } catch (...) {
    load_numbers(before);
    throw;
  }
}

void Optimizer::check_state(const OptimizerState& state) {
  const OptimizerState before{.tensors = {}, .numbers = own_state().numbers};
  static_cast<void>(match(state));
  load_numbers(before);
}

void Optimizer::load_state(const OptimizerState& state) {
  Matched found = match(state);
  const NoGradGuard no_grad;
  std::vector<nn::detail::Write> writes;
  for (auto& [item, tensors] : found) {
    if (!tensors.empty()) {
      share_state(*item);
    }
    for (std::size_t i = 0; i < item->state.size(); ++i) {
      const Tensor& into = item->state[i];
      writes.push_back({into, tensors.empty() ? zeros_like(into) : tensors[i]});
    }
  }
  nn::detail::overwrite_all(std::move(writes));
}

}  // namespace tessera::optim
