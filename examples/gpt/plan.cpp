#include "plan.h"

#include <algorithm>

#include <tessera/dist/parallel/agreement.h>
#include <tessera/dist/parallel/data_parallel.h>

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

void require_same_eval_data(const tessera::data::TokenSequence& eval_tokens,
                            const dist::World& world) {
  if (world.size() == 1) {
    return;  // hashing takes time
  }
  dist::require_agreement(*world.communicator(), "data",
                          {{"length of --eval-data", std::to_string(eval_tokens.size())},
                           {"hash of --eval-data", std::to_string(eval_tokens.hash())}});
}

std::shared_ptr<dist::GradientReducer> apply_plan(Gpt& model, const Loader& loader,
                                                  const dist::World& world) {
  if (world.size() == 1) {
    return nullptr;
  }
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
