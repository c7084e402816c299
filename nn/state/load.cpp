// Reading a tree's state by its names, in two phases: everything is checked before anything is
// changed, and what fails later is undone.
#include <tessera/nn/state/load.h>

#include <algorithm>
#include <map>
#include <set>

#include <tessera/core/autograd/modes.h>
#include <tessera/core/base/log.h>
#include <tessera/core/device/memory_stats.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/nn/state/older_state.h>
#include <tessera/nn/state/overwrite.h>
#include <tessera/nn/state/state_snapshot.h>
#include <tessera/nn/tree/module.h>

namespace tessera::nn {
namespace {

using tessera::detail::concat;

/// One call of load_state_dict.
class Load {
 public:
  Load(Module& root, const LoadOptions& options, const KeyText& text)
      : root_(root), options_(options), text_(text) {
    for (const auto& [name, slot] : root.named_slots()) {
      if (slot->value.defined()) {
        own_.insert(slot->value.get().storage.get());
      }
    }
  }

  LoadResult run(const StateDict& state) {
    plan(root_, state, "");
    const bool hooked = has_post_hooks();
    refuse_problems(options_.strict && !hooked);
    hooked || !extra_.empty() ? fill_or_restore() : fill();
    for (const auto& [path, module] : root_.all_modules()) {
      module->build_if_loaded();
    }
    return std::move(result_);
  }

 private:
  /// Finds out what `module` and all below it take of `state`, parents first.
  void plan(Module& module, StateDict state, const std::string& prefix) {
    const std::string path = prefix.substr(0, prefix.empty() ? 0 : prefix.size() - 1);
    const Metadata* known = std::as_const(state).metadata().find(path);
    LoadContext context{.state = state,
                        .prefix = prefix,
                        .metadata = known == nullptr ? Metadata() : *known,
                        .missing_keys = result_.missing_keys,
                        .unexpected_keys = result_.unexpected_keys,
                        .errors = errors_};
    if (const auto* reader = dynamic_cast<const ReadsOlderState*>(&module)) {
      reader->take_older_state(context);
    }
    run_state_hooks(module.state_hooks(), &StateHooks::load_pre, module, context);
    module.check_state_known();
    plan_slots(module, Slot::Kind::parameter, state, prefix);
    plan_slots(module, Slot::Kind::buffer, state, prefix);
    plan_extra_state(module, state, prefix);
    find_unexpected(module, state, prefix);
    for (const ChildEntryPtr& child : module.child_entries()) {
      if (child->module != nullptr) {
        const std::string below = prefix + child->name + ".";
        plan(*child->module, state.below(below), below);
      }
    }
  }

  void plan_slots(const Module& module, Slot::Kind kind, const StateDict& state,
                  const std::string& prefix) {
    for (const SlotEntryPtr& entry : module.slot_entries()) {
      if (entry->kind == kind && entry->slot != nullptr && entry->slot->persistent) {
        const std::string name = prefix + entry->name;
        plan_slot(entry->slot, name, state.find(name));
      }
    }
  }

  void plan_slot(const SlotPtr& slot, const std::string& name, const Value* given) {
    if (given == nullptr) {
      result_.missing_keys.push_back(name);
    } else if (!given->is<Tensor>() || !given->tensor().defined()) {
      errors_.push_back(text_(name) + ": not a tensor");
    } else if (std::string why = misfit(*slot, name, given->tensor()); !why.empty()) {
      errors_.push_back(std::move(why));
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
    const bool same = slot->value.defined() && slot->value.shares_storage(given);
    const bool apart = options_.assign || same || !own_.contains(given.get().storage.get());
    const auto [planned, first] = copies_.try_emplace(slot, name, apart ? given : clone(given));
    const auto& [known, value] = planned->second;
    if (!first && !detail::same_elements(value, given)) {
      errors_.push_back(concat(text_(name), ": differs from ", text_(known),
                               ", and the module has one tensor for both"));
    }
  }

  /// Whether a tensor has the sizes of a slot, as far as those are known.
  static bool fits(const Shape& slot, const Shape& given) {
    return std::ranges::equal(slot, given, [](std::int64_t known, std::int64_t size) {
      return known == kInferred || known == size;
    });
  }

  /// Why `given` cannot be the value of `slot`; empty when it can. One element fits a number.
  [[nodiscard]] std::string misfit(const Slot& slot, const std::string& name,
                                   const Tensor& given) const {
    const bool number = slot.shape.empty() && given.shape() == Shape{1};
    if (!fits(slot.shape, given.shape()) && !number) {
      return concat("shape of ", text_(name), ": file ", given.shape(), ", module ", slot.shape);
    }
    const bool loses = !options_.assign && is_complex(given.dtype()) && !is_complex(slot.dtype);
    if (options_.assign && slot.synchronizer != nullptr) {
      return text_(name) + ": is kept equal on several ranks; assign before that";
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
      extra_.emplace_back(extra, *given);
    } else if (extra != nullptr) {
      result_.missing_keys.push_back(name);
    } else if (given != nullptr) {
      result_.unexpected_keys.push_back(name);
    }
  }

  void find_unexpected(const Module& module, const StateDict& state, const std::string& prefix) {
    for (const auto& [name, value] : state) {
      if (!name.starts_with(prefix)) {
        continue;  // put there by a hook; no module here will look for it
      }
      const std::string_view rest = std::string_view(name).substr(prefix.size());
      if (rest != kExtraState && !expects(module, rest)) {
        result_.unexpected_keys.push_back(name);
      }
    }
  }

  /// Whether `name` is that of a slot that is saved, or leads to a child.
  static bool expects(const Module& module, std::string_view name) {
    const std::size_t dot = name.find('.');
    if (dot != std::string_view::npos) {
      return std::ranges::any_of(module.child_entries(), [&](const ChildEntryPtr& child) {
        return child->module != nullptr && child->name == name.substr(0, dot);
      });
    }
    return std::ranges::any_of(module.slot_entries(), [&](const SlotEntryPtr& entry) {
      return entry->slot != nullptr && entry->slot->persistent && entry->name == name;
    });
  }

  /// Throws when there are problems; missing and unexpected names are ones when `names` are.
  void refuse_problems(bool names) const {
    std::size_t count = errors_.size();
    std::string lines;
    const auto list = [&](const char* title, const std::vector<std::string>& keys) {
      if (names && !keys.empty()) {
        count += keys.size();
        for (const std::string& key : keys) {
          lines += (&key == keys.data() ? title : ", ") + text_(key);
        }
      }
    };
    list("\n\tmissing: ", result_.missing_keys);
    list("\n\tunexpected: ", result_.unexpected_keys);
    for (const std::string& error : errors_) {
      lines += "\n\t" + error;
    }
    check<RuntimeError>(count == 0, "load_state_dict(", root_.class_name(), "): ", count,
                        count == 1 ? " problem" : " problems", lines);
  }

  [[nodiscard]] bool has_post_hooks() const {
    return std::ranges::any_of(root_.all_modules(), [](const auto& below) {
      const StateHooks* hooks = below.second->state_hooks();
      return hooks != nullptr && !hooks->load_post->empty();
    });
  }

  void fill() const {
    const CategoryScope category(MemoryCategory::parameter);
    const NoGradGuard no_grad;
    for (const auto& [slot, given] : copies_) {
      fill_slot(*slot, given.second);
    }
  }

  /// Fills with all that may still throw.
  void fill_or_restore() {
    StateSnapshot before(root_);
    try {
      fill();
      set_extra_state(before);
      run_post_hooks(root_);
      refuse_problems(options_.strict);
    } catch (...) {
      before.restore();
      throw;
    }
  }

  void fill_slot(Slot& slot, const Tensor& given) const {
    if (!slot.sized()) {
      slot.shape = given.shape();
    }
    const Tensor value =
        given.shape() == slot.shape ? given.detach() : reshape(given.detach(), slot.shape);
    if (slot.value.defined() && !options_.assign) {
      detail::overwrite(slot.value, value);
      return;
    }
    slot.put(cast(value, options_.assign ? value.dtype() : slot.dtype, !options_.assign));
  }

  void set_extra_state(StateSnapshot& before) const {
    for (const auto& [module, state] : extra_) {
      before.keep(*module);
      module->set_extra_state(state);
    }
  }

  /// Children first.
  void run_post_hooks(Module& module) {
    for (const ChildEntryPtr& child : module.child_entries()) {
      if (child->module != nullptr) {
        run_post_hooks(*child->module);
      }
    }
    run_state_hooks(module.state_hooks(), &StateHooks::load_post, module, result_);
  }

  Module& root_;
  LoadOptions options_;
  const KeyText& text_;
  LoadResult result_;
  std::vector<std::string> errors_;
  std::set<const Storage*> own_;                              ///< of the slots' values
  std::map<SlotPtr, std::pair<std::string, Tensor>> copies_;  ///< by slot: a name and its value
  std::vector<std::pair<HasExtraState*, Value>> extra_;
};

}  // namespace

LoadResult load_state(Module& module, const StateDict& state, const LoadOptions& options,
                      const KeyText& text) {
  return Load(module, options, text).run(state);
}

LoadResult Module::load_state_dict(const StateDict& state, const LoadOptions& options) {
  return load_state(*this, state, options, [](const std::string& key) { return '"' + key + '"'; });
}

}  // namespace tessera::nn
