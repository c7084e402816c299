#include "plan.h"

#include <algorithm>

#include <tessera/core/base/log.h>
#include <tessera/core/device/thread_pool.h>
#include <tessera/dist/launcher.h>
#include <tessera/dist/parallel/agreement.h>
#include <tessera/dist/parallel/data_parallel.h>

#include "cores.h"
#include "resolve.h"

namespace dist = tessera::dist;
namespace nn = tessera::nn;
namespace optim = tessera::optim;

void require_same_options(const Options& o, const dist::World& world) {
  const auto given = [](bool is) { return is ? "given" : "not given"; };
  dist::Facts facts = fixed_options(o);
  const dist::Facts others{
      {"--preset", o.preset},
      {"--steps", std::to_string(o.steps)},
      {"--at-once", std::to_string(o.at_once)},
      {"--nonfinite", o.nonfinite},
      {"--init", given(!o.init.empty())},
      {"--eval-data", given(!o.eval_data.empty())},
      {"--eval-every", std::to_string(o.eval_every)},
      {"--save", given(!o.save.empty())},
      {"--save-every", std::to_string(o.save_every)},
      {"--resume", given(o.resume)},
      {"step to resume from", std::to_string(o.resume_step)},
  };
  facts.insert(facts.end(), others.begin(), others.end());
  dist::require_agreement(*world.communicator(), "options", facts);
}

void set_threads(const Options& o, const dist::World& world) {
  const CoreShare share = share_cores(world);
  const int threads = o.threads > 0 ? o.threads : share.threads();
  tessera::set_num_threads(threads);
  if (threads * share.ranks <= share.cores) {
    tessera::pin_threads(share.before * threads);
  }
  const std::string advice = binding_advice(share, threads, dist::announced_world().launcher != "");
  if (world.rank() == 0 && !advice.empty()) {
    tessera::log_warning(advice);
  }
}

std::shared_ptr<dist::GradientReducer> apply_plan(Gpt& model, const Loader& loader,
                                                  const dist::World& world) {
  if (world.size() == 1) {
    return nullptr;
  }
  dist::require_agreement(*world.communicator(), "data",
                          {{"length", std::to_string(loader.dataset().tokens().size())},
                           {"hash", std::to_string(loader.dataset().tokens().hash())}});
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
  optimizer.on_non_finite(optim::NonFinite::skip);  // what follows is decided after the step
  return optimizer;
}
