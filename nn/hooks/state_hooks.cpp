#include <tessera/nn/hooks/state_hooks.h>

#include <utility>

#include <tessera/nn/tree/module.h>

namespace tessera::nn {

StateHooks::StateHooks()
    : save_pre(std::make_shared<HookList<StateDictPreHook>>()),
      save_post(std::make_shared<HookList<StateDictPostHook>>()),
      load_pre(std::make_shared<HookList<LoadPreHook>>()),
      load_post(std::make_shared<HookList<LoadPostHook>>()) {}

RemovableHandle Module::register_state_dict_pre_hook(StateDictPreHook hook) {
  return own_state_hooks().save_pre->add(std::move(hook));
}

RemovableHandle Module::register_state_dict_post_hook(StateDictPostHook hook) {
  return own_state_hooks().save_post->add(std::move(hook));
}

RemovableHandle Module::register_load_state_dict_pre_hook(LoadPreHook hook) {
  return own_state_hooks().load_pre->add(std::move(hook));
}

RemovableHandle Module::register_load_state_dict_post_hook(LoadPostHook hook) {
  return own_state_hooks().load_post->add(std::move(hook));
}

}  // namespace tessera::nn
