// Where the samples of a pass come from, in a form that ranks can compare.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

/// What a data loader deals out. Ranks that train together must have the same.
struct BatchSource {
  std::vector<std::pair<std::string, std::string>> facts;  ///< options and data, by name
  std::uint64_t fingerprint = 0;                           ///< of `facts`
  std::int64_t position = 0;                               ///< of the global batch
  std::string sizes;  ///< of a sample, in each tensor; empty where they may differ
};

}  // namespace tessera
