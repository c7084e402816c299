// Saving and loading the state of optimizers.
#include <algorithm>
#include <map>
#include <optional>

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

constexpr const char* kStepsOf = "steps/";
constexpr const char* kGroupOf = "group/";

std::string tensor_name(std::string_view kind, const std::string& parameter) {
  return std::string(kind) + "/" + parameter;
}

}  // namespace

OptimizerState Optimizer::state() const {
  OptimizerState state;
  for (const Item& item : items_) {
    const std::vector<StateKind> kinds = state_kinds(item.group, item.slot->shape);
    for (std::size_t i = 0; i < std::min(kinds.size(), item.state.size()); ++i) {
      state.tensors.emplace_back(tensor_name(kinds[i].name, item.name), item.state[i]);
    }
  }
  state.numbers.emplace_back("steps", static_cast<double>(steps_));
  for (const Item& item : items_) {
    if (item.steps != steps_) {
      state.numbers.emplace_back(kStepsOf + item.name, static_cast<double>(item.steps));
    }
  }
  for (const Item& item : items_) {
    if (group_count() > 1) {
      state.numbers.emplace_back(kGroupOf + item.name, static_cast<double>(item.group));
    }
  }
  for (std::size_t group = 0; group < group_count(); ++group) {
    read_options(group, [&](std::string_view name, double value) {
      state.numbers.emplace_back(group_prefix(group) + std::string(name), value);
    });
  }
  return state;
}

/// Each parameter with its saved tensors, of which one that was never updated has none.
Optimizer::Matched Optimizer::match_tensors(const OptimizerState& state) {
  std::map<std::string, Tensor> saved(state.tensors.begin(), state.tensors.end());
  Matched found;
  for (Item& item : items_) {
    std::vector<Tensor> tensors;
    std::string missing;
    for (const auto& [kind, shape] : state_kinds(item.group, item.slot->shape)) {
      const std::string name = tensor_name(kind, item.name);
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
      check(item.slot->value.defined(), "load_state: ", item.name,
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
  for (const Item& item : items_) {
    const auto entry = saved.extract(kGroupOf + item.name);
    if (entry.empty()) {
      continue;
    }
    const auto number = static_cast<std::size_t>(std::max(entry.mapped(), 0.0));
    std::optional<std::size_t>& own = found[item.group];
    const bool first = !own && number < group_count() && !taken[number];
    check(first || own == number, "load_state: the groups are made of other parameters; got ",
          item.name, " in group ", item.group, ", where the state has it in its group ",
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
  check(!saved.contains(group_prefix(group_count()) + "lr"),
        "load_state: more groups in the state than in the optimizer, which has ", group_count());
  steps_ = count("steps");
  for (Item& item : items_) {
    const std::string name = kStepsOf + item.name;
    item.steps = saved.contains(name) ? count(name) : steps_;
  }
  const std::vector<std::size_t> groups = saved_groups(saved);
  write_options([&](std::size_t group, std::string_view name, double /*now*/) {
    return number(group_prefix(groups[group]) + std::string(name));
  });
  check(saved.empty(), "load_state: no parameter or option for the number ",
        saved.empty() ? "" : saved.begin()->first);
}

/// What a state calls `saved` here. Earlier versions named a parameter as in the module that was
/// made on its own and became part of another: by the end of its name.
std::string Optimizer::full_name_of(const std::string& saved) const {
  if (std::ranges::find(items_, saved, &Item::name) != items_.end()) {
    return saved;
  }
  const auto ends = [end = "." + saved](const Item& item) { return item.name.ends_with(end); };
  const auto found = std::ranges::find_if(items_, ends);
  return std::ranges::count_if(items_, ends) == 1 ? found->name : saved;
}

OptimizerState Optimizer::with_full_names(OptimizerState state) const {
  const auto rename = [&](std::string& name) {
    if (const std::size_t slash = name.find('/'); slash != std::string::npos) {
      name = tensor_name(name.substr(0, slash), full_name_of(name.substr(slash + 1)));
    }
  };
  std::ranges::for_each(state.tensors, rename, &std::pair<std::string, Tensor>::first);
  std::ranges::for_each(state.numbers, rename, &std::pair<std::string, double>::first);
  return state;
}

void Optimizer::load_state(const OptimizerState& given) {
  const OptimizerState state = with_full_names(given);
  const OptimizerState before{.tensors = {}, .numbers = this->state().numbers};
  Matched found;
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
