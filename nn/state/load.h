// Loading state whose keys came from elsewhere.
#pragma once

#include <functional>
#include <string>

#include <tessera/nn/state/state_dict.h>

namespace tessera::nn {

class Module;

/// What messages call a key of a state dict, quotes included.
using KeyText = std::function<std::string(const std::string& key)>;

/// `module.load_state_dict`, whose errors call the keys as `text` does and name the file `path`,
/// empty for none.
LoadResult load_state(Module& module, const StateDict& state, const LoadOptions& options,
                      const KeyText& text, const std::string& path);

}  // namespace tessera::nn
