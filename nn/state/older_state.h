// State that an earlier version of a class wrote.
#pragma once

#include <tessera/nn/hooks/state_hooks.h>

namespace tessera::nn {

/// A module that takes state from before its class's `state_version`: derive from this as well as
/// from Module.
struct ReadsOlderState {
  virtual ~ReadsOlderState() = default;
  /// Makes of the module's own part of `context.state` what the class saves today, before any hook
  /// sees it. `context.metadata` tells the version that wrote it, if it was kept.
  virtual void take_older_state(LoadContext& context) const = 0;
};

}  // namespace tessera::nn
