#include <tessera/nn/optim/runs.h>

#include <algorithm>

#include <tessera/core/base/mapped.h>
#include <tessera/nn/optim/flat_range.h>

namespace tessera::optim {
namespace {

StepTensors run_of(const StepTensors& whole, nn::ElementRange range) {
  return {flat_range(whole.parameter, range), flat_range(whole.gradient, range),
          mapped(whole.states, [&](const Tensor& state) { return flat_range(state, range); })};
}

}  // namespace

std::vector<std::vector<StepTensors>> cut_into_runs(const std::vector<StepTensors>& parameters,
                                                    std::int64_t most) {
  std::vector<std::vector<StepTensors>> runs;
  std::int64_t room = 0;
  for (const StepTensors& p : parameters) {
    const std::int64_t numel = p.parameter.numel();
    for (std::int64_t first = 0; first < numel;) {
      if (room == 0) {
        runs.emplace_back();
        room = most;
      }
      const std::int64_t count = std::min(room, numel - first);
      runs.back().push_back(run_of(p, {first, count}));
      first += count;
      room -= count;
    }
  }
  return runs;
}

}  // namespace tessera::optim
