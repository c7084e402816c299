// Reading a tree's state by its names, in two phases: everything is checked before anything is
// changed, and what fails later is undone.
#include <tessera/nn/state/load.h>

#include <algorithm>

#include <tessera/core/device/memory_stats.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/nn/state/load_plan.h>
#include <tessera/nn/state/overwrite.h>
#include <tessera/nn/state/state_snapshot.h>
#include <tessera/nn/tree/module_access.h>

namespace tessera::nn {
namespace {

/// One call of load_state_dict.
class Load {
 public:
  Load(Module& root, const LoadOptions& options, const KeyText& text, const std::string& path)
      : root_(root), options_(options), text_(text), path_(path) {}

  LoadResult run(const StateDict& state) {
    plan_ = plan_load(root_, state, options_, text_);
    const bool hooked = has_post_hooks();
    refuse_problems(options_.strict && !hooked);
    hooked || !plan_.extra.empty() ? fill_or_restore() : fill();
    for (const auto& [path, module] : detail::all_modules(root_)) {
      detail::build_if_loaded(*module);
    }
    return std::move(plan_.result);
  }

 private:
  /// Throws when there are problems; missing and unexpected names are ones when `names` are.
  void refuse_problems(bool names) const {
    std::size_t count = plan_.errors.size();
    std::string lines;
    const auto list = [&](const char* title, const std::vector<std::string>& keys) {
      if (names && !keys.empty()) {
        count += keys.size();
        for (const std::string& key : keys) {
          lines += (&key == keys.data() ? title : ", ") + text_(key);
        }
      }
    };
    list("\n\tmissing: ", plan_.result.missing_keys);
    list("\n\tunexpected: ", plan_.result.unexpected_keys);
    for (const std::string& error : plan_.errors) {
      lines += "\n\t" + error;
    }
    const std::string file = path_.empty() ? "" : " of '" + path_ + "'";
    check<RuntimeError>(count == 0, "load_state_dict(", root_.class_name(), ")", file, ": ", count,
                        count == 1 ? " problem" : " problems", lines);
  }

  [[nodiscard]] bool has_post_hooks() const {
    return std::ranges::any_of(detail::all_modules(root_), [](const auto& below) {
      const StateHooks* hooks = detail::state_hooks(*below.second);
      return hooks != nullptr && !hooks->load_post->empty();
    });
  }

  void fill() const {
    const CategoryScope category(MemoryCategory::parameter);
    const NoGradGuard no_grad;
    for (const auto& [name, slot] : root_.named_slots()) {  // in the order that all ranks have
      if (plan_.copies.contains(slot)) {
        detail::settle_writes(slot->value);
      }
    }
    for (const auto& [slot, given] : plan_.copies) {
      if (!options_.assign) {
        detail::settle_writes(given.second);
      }
    }
    for (const auto& [slot, given] : plan_.copies) {
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
    for (const auto& [module, state] : plan_.extra) {
      before.keep(*module);
      module->set_extra_state(state);
    }
  }

  /// Children first.
  void run_post_hooks(Module& module) {
    for (const ChildEntryPtr& child : detail::child_entries(module)) {
      if (child->module != nullptr) {
        run_post_hooks(*child->module);
      }
    }
    run_state_hooks(detail::state_hooks(module), &StateHooks::load_post, module, plan_.result);
  }

  Module& root_;
  const LoadOptions& options_;
  const KeyText& text_;
  const std::string& path_;  ///< of the file, empty for none
  LoadPlan plan_;
};

}  // namespace

LoadResult load_state(Module& module, const StateDict& state, const LoadOptions& options,
                      const KeyText& text, const std::string& path) {
  return Load(module, options, text, path).run(state);
}

LoadResult detail::load_state_dict(Module& module, const StateDict& state,
                                   const LoadOptions& options) {
  const auto quoted = [](const std::string& key) { return '"' + key + '"'; };
  return load_state(module, state, options, quoted, "");
}

}  // namespace tessera::nn
