#include "plan.h"

#include <algorithm>

#include <tessera/core/device/affinity.h>
#include <tessera/core/device/thread_pool.h>
#include <tessera/dist/parallel/agreement.h>
#include <tessera/dist/parallel/data_parallel.h>

#include "resolve.h"

namespace dist = tessera::dist;
namespace nn = tessera::nn;
namespace optim = tessera::optim;

void set_threads(const Options& o, const dist::World& world) {
  const int cores = static_cast<int>(tessera::process_cores().size());
  const int share = std::max(1, cores / world.local_size());
  const int threads = o.threads > 0 ? o.threads : share;
  tessera::set_num_threads(threads);
  if (threads * world.local_size() <= cores) {
    tessera::pin_threads(world.local_rank() * threads);
  }
}

std::shared_ptr<dist::GradientReducer> apply_plan(Gpt& model,
                                                  const tessera::data::DataLoader& loader,
                                                  const Options& o, const dist::World& world) {
  if (world.size() == 1) {
    return nullptr;
  }
  dist::require_agreement(*world.communicator(), "gpt",
                          {{"length of the data", std::to_string(loader.tokens().size())},
                           {"hash of the data", std::to_string(loader.tokens().hash())},
                           {"options", fingerprint(o)}});
  return dist::data_parallel(model, world.communicator(), {.grain = loader.grain(), .buckets = {}});
}

optim::AdamW make_optimizer(const Gpt& model, const Options& o) {
  std::vector<nn::Parameter> matrices;
  std::vector<nn::Parameter> vectors;
  for (const nn::Parameter& p : model.parameters()) {
    (p.shape().size() >= 2 ? matrices : vectors).push_back(p);
  }
  optim::AdamWOptions options{
      .lr = o.lr, .beta1 = o.beta1, .beta2 = o.beta2, .eps = 1e-8, .weight_decay = o.weight_decay};
  optim::AdamW optimizer(matrices, options);
  options.weight_decay = 0;
  optimizer.add_group(vectors, options);
  optimizer.clip_grad_norm(o.clip);
  optimizer.on_non_finite(o.nonfinite == "skip" ? optim::NonFinite::skip : optim::NonFinite::stop);
  return optimizer;
}
