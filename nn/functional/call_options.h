// What one call may be told besides its arguments: `model(x, nn::CallOptions{.v = &weights})`.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::nn {

class ExpectedReturns;  // nn/tracking/expected_returns.h
class Module;
class Variables;

/// Where the random numbers of a call come from: the same key gives the same numbers.
struct RandomKey {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
};

struct CallOptions {
  /// Stand in place of the parameters, and of the buffers, of the module and all below it, for this
  /// call alone. What they hold keeps its history. Without `with_partial_v` all names must be
  /// given.
  const Variables* v = nullptr;
  const Variables* buffers = nullptr;
  bool with_partial_v = false;

  std::optional<bool> training = {};  ///< in place of the modules' own flags
  std::optional<RandomKey> key = {};  ///< in place of the context's seed and step

  /// Records what the modules below return; see nn/tracking/submod_trace.h.
  bool track_submod_rets = false;
  std::optional<int> submod_depth = {};              ///< at most so deep; children have depth 1
  std::vector<const Module*> submods_to_track = {};  ///< these alone; empty for all
  bool track_submod_call_order = false;
  const ExpectedReturns* expected_submod_rets = nullptr;  ///< checked; implies recording
};

}  // namespace tessera::nn
