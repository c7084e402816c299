// What loading a state would do to a tree: all of it is known before anything is changed.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <tessera/nn/slot.h>
#include <tessera/nn/state/load.h>

namespace tessera::nn {

struct LoadPlan {
  /// The first name of each slot, and the value that it takes.
  std::map<SlotPtr, std::pair<std::string, Tensor>> copies;
  std::vector<std::pair<HasExtraState*, Value>> extra;
  LoadResult result;
  std::vector<std::string> errors;  ///< why entries of the state cannot be taken
};

/// What `root` and all below it take of `state`, parents first. Runs the hooks before loading.
[[nodiscard]] LoadPlan plan_load(Module& root, const StateDict& state, const LoadOptions& options,
                                 const KeyText& text);

}  // namespace tessera::nn
