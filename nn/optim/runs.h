// Cutting the parameters of a step into runs that fit into caches.
#pragma once

#include <cstdint>
#include <vector>

#include <tessera/core/ops/support/step_tensors.h>

namespace tessera::optim {

/// `parameters` in order, cut so that the parameters of each run have `most` elements together,
/// those of the last at most so many. States are of the parameter's size. All tensors lie on the
/// memory of the given ones.
[[nodiscard]] std::vector<std::vector<StepTensors>> cut_into_runs(
    const std::vector<StepTensors>& parameters, std::int64_t most);

}  // namespace tessera::optim
