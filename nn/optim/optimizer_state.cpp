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

}  // namespace

OptimizerState Optimizer::state() const {
  OptimizerState state;
  for (std::size_t kind = 0; kind < state_names_.size(); ++kind) {
    for (const Item& item : items_) {
      if (!item.state.empty()) {
        state.tensors.emplace_back(std::string(state_names_[kind]) + "/" + item.slot->name,
                                   item.state[kind]);
      }
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

/// Pairs of source and destination. A parameter without saved state was not updated yet.
std::vector<std::pair<Tensor, Tensor>> Optimizer::match_tensors(const OptimizerState& state) {
  std::map<std::string, Tensor> saved(state.tensors.begin(), state.tensors.end());
  std::vector<std::pair<Item*, std::vector<Tensor>>> found;
  for (Item& item : items_) {
    std::vector<Tensor> tensors;
    for (const std::string_view kind : state_names_) {
      const std::string name = std::string(kind) + "/" + item.slot->name;
      const auto entry = saved.find(name);
      if (entry == saved.end()) {
        check(tensors.empty(), "load_state: no tensor named ", name);
        continue;
      }
      check(entry->second.shape() == item.slot->shape, "load_state: wrong shape of ", name,
            "; got ", entry->second.shape(), ", expected ", item.slot->shape);
      tensors.push_back(entry->second);
      saved.erase(entry);
    }
    check(tensors.empty() || tensors.size() == state_names_.size(), "load_state: no tensor named ",
          state_names_[0], "/", item.slot->name);
    found.emplace_back(&item, std::move(tensors));
  }
  check(saved.empty(), "load_state: no parameter for the tensor ",
        saved.empty() ? "" : saved.begin()->first);
  std::vector<std::pair<Tensor, Tensor>> copies;
  for (auto& [item, tensors] : found) {
    if (!tensors.empty()) {
      ensure_state(*item);
    }
    for (std::size_t kind = 0; kind < item->state.size(); ++kind) {
      copies.emplace_back(tensors.empty() ? zeros_like(item->state[kind]) : tensors[kind],
                          item->state[kind]);
    }
  }
  return copies;
}

void Optimizer::load_numbers(const OptimizerState& state) {
  const std::map<std::string, double> saved(state.numbers.begin(), state.numbers.end());
  const auto number = [&](const std::string& name, double otherwise) {
    const auto entry = saved.find(name);
    return entry == saved.end() ? otherwise : entry->second;
  };
  steps_ = static_cast<std::int64_t>(number("steps", 0));
  for (Item& item : items_) {
    item.steps =
        static_cast<std::int64_t>(number("steps/" + item.slot->name, static_cast<double>(steps_)));
  }
  for (std::size_t group = 0; group < group_count(); ++group) {
    write_options(group, [&](std::string_view name, double now) {
      return number(group_prefix(group) + std::string(name), now);
    });
  }
}

void Optimizer::load_state(const OptimizerState& state) {
  const bool counted =
      std::ranges::any_of(state.numbers, [](const auto& entry) { return entry.first == "steps"; });
  check(counted, "load_state: no number named steps");
  const NoGradGuard no_grad;
  for (const auto& [source, destination] : match_tensors(state)) {
    static_cast<void>(call_into<Cast>(destination, {source}, {destination.dtype()}));
  }
  load_numbers(state);
}

}  // namespace tessera::optim
