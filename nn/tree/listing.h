// How parts of a tree are listed.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tessera::nn {

/// Which parameters or buffers are listed, and under which names.
struct IterOptions {
  std::string prefix{};          ///< put before every name, with a dot
  bool recurse = true;           ///< false: the module's own only
  bool remove_duplicate = true;  ///< each slot once, under its first name; false: every name
};

template <class T>
using Named = std::vector<std::pair<std::string, T>>;

}  // namespace tessera::nn
