#include "checkpoints.h"

#include <tessera/dist/checkpoint/step_folders.h>
#include <tessera/dist/comm/collectives.h>

#include "resolve.h"

namespace dist = tessera::dist;

namespace {

dist::TrainingRun parts_of(const Run& run) {
  return {.model = *run.model,
          .optimizer = run.optimizer,
          .loader = run.loader,
          .options = fixed_options(run.options)};
}

/// The newest step in --save as rank 0 sees it, -1 for none.
std::int64_t newest(const Options& o, dist::Communicator& comm) {
  std::vector<std::int64_t> step{-1};
  if (comm.rank() == 0) {
    step[0] = dist::newest_step(o.save).value_or(-1);
  }
  dist::broadcast(comm, std::span(step), 0, "newest step").wait();
  return step[0];
}

}  // namespace

std::unique_ptr<dist::TrainingCheckpoint> open_resumed(Options& o, dist::Communicator& comm) {
  if (o.save.empty()) {
    return nullptr;
  }
  if (!o.resume) {
    const std::int64_t step = newest(o, comm);
    tessera::check(step < 0, "--save: ", o.save, " holds step ", step,
                   " of another run; use --resume to go on from it, or another folder");
    return nullptr;
  }
  const auto step = o.resume_step < 0 ? std::nullopt : std::optional(o.resume_step);
  auto checkpoint = std::make_unique<dist::TrainingCheckpoint>(o.save, step, comm);
  adopt(o, checkpoint->facts().options);
  return checkpoint;
}

void restore(const Run& run, dist::TrainingCheckpoint& checkpoint) {
  checkpoint.restore(parts_of(run));
  if (run.options.resume_step >= 0 && run.world.rank() == 0) {
    dist::set_aside_steps_after(run.options.save, run.options.resume_step);
  }
}

std::optional<std::string> save_step(const Run& run, std::int64_t step, bool last) {
  const Options& o = run.options;
  const auto error = dist::save_training(o.save, step, parts_of(run), *run.world.communicator());
  if (error) {
    tessera::check<tessera::Error>(!last, "the last step could not be saved: ", *error);
    return "warning: step " + std::to_string(step) +
           " could not be saved, training goes on: " + *error;
  }
  if (run.world.rank() == 0) {
    dist::keep_newest_steps(o.save, o.keep);
  }
  return std::nullopt;
}
