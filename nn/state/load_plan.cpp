#include <tessera/nn/state/load_plan.h>

#include <algorithm>

#include <tessera/core/base/log.h>
#include <tessera/core/ops/as_strided.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/copy.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/nn/state/older_state.h>
#include <tessera/nn/state/overwrite.h>
#include <tessera/nn/tree/module_access.h>

namespace tessera::nn {
namespace {

using tessera::detail::concat;

/// Whether a tensor has the sizes of a slot, as far as those are known.
bool fits(const Shape& slot, const Shape& given) {
  return std::ranges::equal(slot, given, [](std::int64_t known, std::int64_t size) {
    return known == kInferred || known == size;
  });
}

/// Whether `name` is that of a slot that is saved, or leads to a child.
bool expects(const Module& module, std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot != std::string_view::npos) {
    return std::ranges::any_of(detail::child_entries(module), [&](const ChildEntryPtr& child) {
      return child->module != nullptr && child->name == name.substr(0, dot);
    });
  }
  return std::ranges::any_of(detail::slot_entries(module), [&](const SlotEntryPtr& entry) {
    return entry->slot != nullptr && entry->slot->persistent && entry->name == name;
  });
}

using Planned = decltype(LoadPlan::copies)::value_type;

class Planner {
 public:
  Planner(Module& root, const LoadOptions& options, const KeyText& text)
      : options_(options), text_(text) {
    for (const auto& [name, slot] : root.named_slots()) {
      if (slot->value.defined()) {
        ++own_[slot->value.get().storage.get()];
      }
    }
  }

  LoadPlan plan(Module& root, const StateDict& state) {
    plan_module(root, state, "");
    if (!options_.assign) {
      refuse_overlaps();
    }
    return std::move(plan_);
  }

 private:
  /// Finds out what `module` and all below it take of `state`, parents first.
  void plan_module(Module& module, StateDict state, const std::string& prefix) {
    const std::string path = prefix.substr(0, prefix.empty() ? 0 : prefix.size() - 1);
    const Metadata* known = std::as_const(state).metadata().find(path);
    LoadContext context{.state = state,
                        .prefix = prefix,
                        .metadata = known == nullptr ? Metadata() : *known,
                        .missing_keys = plan_.result.missing_keys,
                        .unexpected_keys = plan_.result.unexpected_keys,
                        .errors = plan_.errors};
    if (const auto* reader = dynamic_cast<const ReadsOlderState*>(&module)) {
      reader->take_older_state(context);
    }
    run_state_hooks(detail::state_hooks(module), &StateHooks::load_pre, module, context);
    detail::check_state_known(module);
    plan_slots(module, Slot::Kind::parameter, state, prefix);
    plan_slots(module, Slot::Kind::buffer, state, prefix);
    plan_extra_state(module, state, prefix);
    find_unexpected(module, state, prefix);
    for (const ChildEntryPtr& child : detail::child_entries(module)) {
      if (child->module != nullptr) {
        const std::string below = prefix + child->name + ".";
        plan_module(*child->module, state.below(below), below);
      }
    }
  }

  void plan_slots(const Module& module, Slot::Kind kind, const StateDict& state,
                  const std::string& prefix) {
    for (const SlotEntryPtr& entry : detail::slot_entries(module)) {
      if (entry->kind == kind && entry->slot != nullptr && entry->slot->persistent) {
        const std::string name = prefix + entry->name;
        plan_slot(entry->slot, name, state.find(name));
      }
    }
  }

  void plan_slot(const SlotPtr& slot, const std::string& name, const Value* given) {
    if (given == nullptr) {
      plan_.result.missing_keys.push_back(name);
    } else if (!given->is<Tensor>() || !given->tensor().defined()) {
      plan_.errors.push_back(text_(name) + ": not a tensor");
    } else if (std::string why = misfit(*slot, name, given->tensor()); !why.empty()) {
      plan_.errors.push_back(std::move(why));
    } else if (!options_.assign && slot->value.defined() &&
               slot->value.device().type == DeviceType::meta) {
      log_warning("load_state_dict: ", text_(name), " has no data (meta) and takes none; assign, ",
                  "or use to_empty() before");
    } else {
      plan_copy(slot, name, given->tensor());
    }
  }

  /// A slot with several names, a tied head say, takes one value.
  void plan_copy(const SlotPtr& slot, const std::string& name, const Tensor& given) {
    // What lies in another slot's memory may be written over before it is read.
    const auto slots = own_.find(given.get().storage.get());
    const bool same = slot->value.defined() && slot->value.shares_storage(given);
    const bool apart = options_.assign || slots == own_.end() || (same && slots->second == 1);
    const auto [planned, first] =
        plan_.copies.try_emplace(slot, name, apart ? given : clone(given));
    const auto& [known, known_value] = planned->second;
    if (!first && !detail::same_elements(known_value, given)) {
      const std::string dtypes =
          known_value.dtype() == given.dtype()
              ? ""
              : concat(" (", known_value.dtype(), "; it is ", given.dtype(), ")");
      plan_.errors.push_back(concat(text_(name), ": differs from ", text_(known), dtypes,
                                    ", and the module has one tensor for both"));
    }
  }

  /// Slots that lie in one another's memory must be given what both can hold.
  void refuse_overlaps() {
    std::map<const Storage*, std::vector<const Planned*>> together;
    for (const Planned& planned : plan_.copies) {
      if (planned.first->value.defined()) {
        together[planned.first->value.get().storage.get()].push_back(&planned);
      }
    }
    for (auto& [memory, slots] : together) {
      if (slots.size() > 1 && plan_.errors.empty()) {
        std::ranges::sort(slots, {}, [](const Planned* planned) { return planned->second.first; });
        compare_in_copy(slots);
      }
    }
  }

  /// Writes all of them to a copy of the memory, and looks whether all are still there.
  void compare_in_copy(const std::vector<const Planned*>& slots) {
    const NoGradGuard off_the_tape;
    const Tensor& first = slots[0]->first->value;
    const auto size = static_cast<std::int64_t>(first.get().storage->nbytes());
    const auto whole = size / static_cast<std::int64_t>(size_of(first.dtype()));
    const Tensor memory = empty({whole}, {.dtype = first.dtype()});
    const auto in_copy = [&](const Tensor& x) {
      const StridedView view{x.shape(), x.strides(), x.get().offset, {}};
      return as_strided(memory, view);
    };
    for (const Planned* planned : slots) {
      const Tensor to = in_copy(planned->first->value);
      to.copy_(reshape(planned->second.second, to.shape()));
    }
    for (const Planned* planned : slots) {
      const Tensor& given = planned->second.second;
      const Tensor kept = in_copy(planned->first->value);
      if (!detail::same_elements(contiguous(kept),
                                 cast(reshape(given, kept.shape()), kept.dtype()))) {
        plan_.errors.push_back(concat(text_(planned->second.first),
                                      ": lies in memory that others of the module show, and the "
                                      "state has other values for them"));
      }
    }
  }

  /// Why `given` cannot be the value of `slot`; empty when it can. One element fits a number.
  [[nodiscard]] std::string misfit(const Slot& slot, const std::string& name,
                                   const Tensor& given) const {
    const bool number = slot.shape.empty() && given.shape() == Shape{1};
    if (!fits(slot.shape, given.shape()) && !number) {
      return concat("shape of ", text_(name), ": file ", given.shape(), ", module ", slot.shape);
    }
    const bool loses = !options_.assign && is_complex(given.dtype()) && !is_complex(slot.dtype);
    if (options_.assign && slot.ownership != nullptr) {
      return text_(name) + ": is kept equal on several ranks; assign before that";
    }
    if (options_.assign && slot.requires_grad() && given.get().inference &&
        !Modes::current().inference) {
      return text_(name) + ": was made under InferenceGuard; assign a clone(x) made after it";
    }
    const bool fixed = options_.assign && slot.requires_grad() && !is_differentiable(given.dtype());
    if (loses || fixed) {
      return concat("dtype of ", text_(name), ": file ", given.dtype(), ", module ", slot.dtype);
    }
    if (!options_.assign && slot.value.defined()) {
      const std::string why = detail::why_not_written(slot.value, given);
      return why.empty() ? why : text_(name) + ": " + why;
    }
    return "";
  }

  void plan_extra_state(Module& module, const StateDict& state, const std::string& prefix) {
    const std::string name = prefix + std::string(kExtraState);
    const Value* given = state.find(name);
    auto* extra = dynamic_cast<HasExtraState*>(&module);
    if (extra != nullptr && given != nullptr) {
      plan_.extra.emplace_back(extra, *given);
    } else if (extra != nullptr) {
      plan_.result.missing_keys.push_back(name);
    } else if (given != nullptr) {
      plan_.result.unexpected_keys.push_back(name);
    }
  }

  void find_unexpected(const Module& module, const StateDict& state, const std::string& prefix) {
    for (const auto& [name, value] : state) {
      if (!name.starts_with(prefix)) {
        continue;  // put there by a hook; no module here will look for it
      }
      const std::string_view rest = std::string_view(name).substr(prefix.size());
      if (rest != kExtraState && !expects(module, rest)) {
        plan_.result.unexpected_keys.push_back(name);
      }
    }
  }

  const LoadOptions& options_;
  const KeyText& text_;
  LoadPlan plan_;
  std::map<const Storage*, int> own_;  ///< of the slots' values: how many slots lie in each
};

}  // namespace

LoadPlan plan_load(Module& root, const StateDict& state, const LoadOptions& options,
                   const KeyText& text) {
  return Planner(root, options, text).plan(root, state);
}

}  // namespace tessera::nn
