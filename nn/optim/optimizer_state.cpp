// Saving and loading the state of optimizers.
#include <algorithm>
#include <map>

#include <tessera/core/autograd/modes.h>
#include <tessera/core/base/error.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/optim/optimizer.h>

namespace tessera::optim {
namespace {

std::string group_prefix(std::size_t group) {
  return "group." + std::to_string(group) + ".";
}

std::string tensor_name(std::string_view kind, const nn::Slot& slot) {
  return std::string(kind) + "/" + slot.name;
}

}  // namespace

OptimizerState Optimizer::state() const {
  OptimizerState state;
  for (const Item& item : items_) {
    const std::vector<StateKind> kinds = state_kinds(item.group, item.slot->shape);
    for (std::size_t i = 0; i < std::min(kinds.size(), item.state.size()); ++i) {
      state.tensors.emplace_back(tensor_name(kinds[i].name, *item.slot), item.state[i]);
    }
  }
  state.numbers.emplace_back("steps", static_cast<double>(steps_));
  for (const Item& item : items_) {
    if (item.steps != steps_) {
      state.numbers.emplace_back("steps/" + item.slot->name, static_cast<double>(item.steps));
    }
  }
  for (std::size_t group = 0; group < group_count(); ++group) {
    read_options(group, [&](std::string_view name, double value) {
      state.numbers.emplace_back(group_prefix(group) + std::string(name), value);
    });
  }
  return state;
}

/// Each parameter with its saved tensors; one without any was not updated yet.
std::vector<std::pair<Optimizer::Item*, std::vector<Tensor>>> Optimizer::match_tensors(
    const OptimizerState& state) {
  std::map<std::string, Tensor> saved(state.tensors.begin(), state.tensors.end());
  std::vector<std::pair<Item*, std::vector<Tensor>>> found;
  for (Item& item : items_) {
    std::vector<Tensor> tensors;
    std::string missing;
    for (const auto& [kind, shape] : state_kinds(item.group, item.slot->shape)) {
      const std::string name = tensor_name(kind, *item.slot);
      const auto entry = saved.find(name);
      if (entry == saved.end()) {
        missing = name;
        continue;
      }
      check(entry->second.shape() == shape, "load_state: wrong shape of ", name, "; got ",
            entry->second.shape(), ", expected ", shape);
      tensors.push_back(entry->second);
      saved.erase(entry);
    }
    check(tensors.empty() || missing.empty(), "load_state: no tensor named ", missing);
    found.emplace_back(&item, std::move(tensors));
  }
  check(saved.empty(), "load_state: no parameter for the tensor ",
        saved.empty() ? "" : saved.begin()->first);
  return found;
}

void Optimizer::load_numbers(const OptimizerState& state) {
  const std::map<std::string, double> saved(state.numbers.begin(), state.numbers.end());
  const auto number = [&](const std::string& name, double otherwise) {
    const auto entry = saved.find(name);
    return entry == saved.end() ? otherwise : entry->second;
  };
  const auto count = [&](const std::string& name, std::int64_t otherwise) {
    const double value = number(name, static_cast<double>(otherwise));
    check(value >= 0 && value <= 0x1p53, "load_state: ", name, " is no count; got ", value);
    return static_cast<std::int64_t>(value);
  };
  steps_ = count("steps", 0);
  for (Item& item : items_) {
    item.steps = count("steps/" + item.slot->name, steps_);
  }
  for (std::size_t group = 0; group < group_count(); ++group) {
    write_options(group, [&](std::string_view name, double now) {
      return number(group_prefix(group) + std::string(name), now);
    });
  }
}

void Optimizer::load_state(const OptimizerState& state) {
  const auto has = [&](const std::string& name) {
    return std::ranges::any_of(state.numbers, [&](const auto& n) { return n.first == name; });
  };
  check(has("steps"), "load_state: no number named steps");
  check(!has(group_prefix(group_count()) + "lr"),
        "load_state: more groups in the state than in the optimizer, which has ", group_count());
  const OptimizerState before{.tensors = {}, .numbers = this->state().numbers};
  std::vector<std::pair<Item*, std::vector<Tensor>>> found;
  try {
    load_numbers(state);  // what is kept depends on options
    found = match_tensors(state);
  } catch (...) {
    load_numbers(before);
    throw;
  }
  const NoGradGuard no_grad;
  for (auto& [item, tensors] : found) {
    if (!tensors.empty()) {
      ensure_state(*item);
    }
    for (std::size_t i = 0; i < item->state.size(); ++i) {
      const Tensor& into = item->state[i];
      const Tensor from = tensors.empty() ? zeros_like(into) : tensors[i];
      static_cast<void>(call_into<Cast>(into, {from}, {into.dtype()}));
    }
  }
}

}  // namespace tessera::optim
