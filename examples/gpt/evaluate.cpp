#include "evaluate.h"

#include <algorithm>

#include <tessera/core/autograd/modes.h>
#include <tessera/core/dispatch/autocast.h>
#include <tessera/dist/reduce/global_mean.h>

#include "data.h"

double evaluate(const Run& run) {
  constexpr std::int64_t kBatches = 16;
  const Options& o = run.options;
  auto options = loader_options(o);
  options.order = tessera::data::Order::sequential;
  options.steps = kBatches;
  options.counts_steps = false;
  tessera::data::DataLoader loader(load_tokens(o.eval_data), options);
  const tessera::InferenceGuard inference;
  run.model->eval();
  double sum = 0;
  tessera::dist::GlobalMean mean;
  for (auto& [x, y] : loader) {
    const tessera::AutocastScope autocast(tessera::parse_dtype(o.dtype));
    mean.add(run.model(x, y));
    if (tessera::Context::current().pass.last) {
      sum += mean.take(*run.world.communicator());
    }
  }
  run.model->train();
  return sum / kBatches;
}
