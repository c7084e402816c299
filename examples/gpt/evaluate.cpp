#include "evaluate.h"

#include <algorithm>

#include <tessera/core/dispatch/autocast.h>
#include <tessera/core/tensor/modes.h>
#include <tessera/dist/reduce/global_mean.h>

#include "data.h"

namespace {

constexpr std::int64_t kBatches = 16;

tessera::data::LoaderOptions eval_options(const Options& o) {
  auto options = loader_options(o);
  options.shuffle = false;
  options.steps = kBatches;
  options.counts_steps = false;
  return options;
}

}  // namespace

tessera::data::TokenSequence load_eval_tokens(const Options& o) {
  if (o.eval_data.empty()) {
    return {};
  }
  return cut_windows(load_tokens(o.eval_data), o).tokens();
}

double evaluate(const Run& run) {
  const Options& o = run.options;
  Loader loader(cut_windows(run.eval_tokens, o), eval_options(o));
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
