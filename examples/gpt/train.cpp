#include "train.h"

#include "checkpoints.h"
#include "data.h"
#include "evaluate.h"
#include "init_file.h"
#include "model.h"
#include "plan.h"
#include "resolve.h"
#include "sample.h"
#include "stepper.h"

namespace nn = tessera::nn;
namespace dist = tessera::dist;

namespace {

GptConfig config_of(const Options& o) {
  return {.layers = o.layers,
          .heads = o.heads,
          .width = o.width,
          .context = o.context,
          .vocab = o.vocab,
          .dropout = o.dropout,
          .tied = !o.untied,
          .checkpoint_activations = o.checkpoint_activations};
}

}  // namespace

void train(const Options& given, const dist::World& world) {
  dist::Communicator& comm = *world.communicator();
  require_same_options(given, world);
  Options o = spell_out(given);
  const auto checkpoint = open_resumed(o, comm);
  o = resolve(o);
  tessera::set_seed(o.seed);
  Loader loader(cut_windows(load_tokens(o.data), o), loader_options(o));
  const auto eval_tokens = load_eval_tokens(o);
  const auto model = nn::make<Gpt>(config_of(o));
  if (!o.init.empty() && checkpoint == nullptr) {
    load_init(*model, o.init, comm);
  }
  prepare_saving(o, comm);
  require_same_eval_data(eval_tokens, world);
  const auto reducer = apply_plan(*model, loader, world);
  auto optimizer = make_optimizer(*model, o);
  const Run run{o, world, model, loader, eval_tokens, optimizer, reducer.get()};
  if (checkpoint != nullptr) {
    restore(run, *checkpoint);
  }
  if (run_steps(run) && o.sample > 0) {
    sample(run);
  }
}
