// Hooks around saving and loading a module's state.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/core/base/hook_list.h>
#include <tessera/nn/state/state_dict.h>

namespace tessera::nn {

class Module;

/// Runs before a module's part is written.
using StateDictPreHook = std::function<void(Module&, std::string_view prefix, bool keep_vars)>;

/// Runs after the part of a module and of all below it is written, and may change it.
using StateDictPostHook =
    std::function<void(Module&, StateDict&, std::string_view prefix, Metadata& metadata)>;

/// What a hook sees, and may change, before a module takes its part of a state dict.
struct LoadContext {
  StateDict& state;    ///< a copy; below the root, only what is below `prefix`
  std::string prefix;  ///< of this module's names, with the dot
  Metadata metadata;   ///< what the state dict says of this module
  bool strict = true;  ///< always, whatever the caller asked for
  std::vector<std::string>& missing_keys;
  std::vector<std::string>& unexpected_keys;
  std::vector<std::string>& errors;  ///< any line fails the load
};
using LoadPreHook = std::function<void(Module&, LoadContext&)>;

/// Runs after a module and all below it took their parts. The lists are those of the whole load;
/// a strict one fails when something is left in them.
using LoadPostHook = std::function<void(Module&, LoadResult&)>;

struct StateHooks {
  std::shared_ptr<HookList<StateDictPreHook>> save_pre =
      std::make_shared<HookList<StateDictPreHook>>();
  std::shared_ptr<HookList<StateDictPostHook>> save_post =
      std::make_shared<HookList<StateDictPostHook>>();
  std::shared_ptr<HookList<LoadPreHook>> load_pre = std::make_shared<HookList<LoadPreHook>>();
  std::shared_ptr<HookList<LoadPostHook>> load_post = std::make_shared<HookList<LoadPostHook>>();
};

namespace detail {
/// The module's own, made where there are none.
[[nodiscard]] StateHooks& own_state_hooks(Module& module);
}  // namespace detail

/// Calls all hooks of one kind, where there are any.
template <class Hook, class... A>
void run_state_hooks(const StateHooks* hooks, std::shared_ptr<HookList<Hook>> StateHooks::*kind,
                     A&&... arguments) {
  if (hooks != nullptr && !(hooks->*kind)->empty()) {
    (hooks->*kind)->walk([&](const auto& entry) { entry.hook(arguments...); });
  }
}

}  // namespace tessera::nn
