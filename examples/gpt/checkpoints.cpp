#include "checkpoints.h"

#include <algorithm>

#include <tessera/core/base/busy_scope.h>
#include <tessera/core/base/file.h>
#include <tessera/core/base/log.h>
#include <tessera/dist/checkpoint/step_folders.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/nn/io/array_file.h>

#include "resolve.h"

namespace dist = tessera::dist;

namespace {

constexpr const char* kSteps = "--steps";

dist::TrainingRun parts_of(const Run& run) {
  FixedOptions options = fixed_options(run.options);
  options.emplace_back(kSteps, std::to_string(run.options.steps));
  return {.model = *run.model,
          .optimizer = run.optimizer,
          .loader = run.loader,
          .options = std::move(options)};
}

/// Where --steps was not given the checkpoint's counts; it may be raised, which changes the
/// schedule from here on.
void adopt_steps(Options& o, const dist::TrainingFacts& facts, bool speaks) {
  const auto stored = std::ranges::find(
      facts.options, kSteps, [](const auto& entry) -> const std::string& { return entry.first; });
  if (stored == facts.options.end()) {
    return;
  }
  const std::int64_t before = std::stoll(stored->second);
  if (!o.was_given(kSteps)) {
    o.steps = before;
  }
  if (o.steps <= facts.step || o.steps == before) {
    return;
  }
  tessera::check(o.steps > before, "--steps: the checkpoint has ", before, ", the command line ",
                 o.steps, "; a run that goes on can only have more");
  if (speaks) {
    tessera::log_info("--steps: raised from ", before, " to ", o.steps, "; from step ",
                      facts.step + 1, " on the schedule is that of ", o.steps, " steps");
  }
}

/// Says of the option what is wrong with its folder, or with a library that cannot save.
template <class Call>
auto of_save(const Call& call) {
  try {
    return call();
  } catch (const tessera::IoError& error) {
    tessera::fail<tessera::IoError>("--save: ", error.what());
  } catch (const tessera::Unsupported& error) {
    tessera::fail<tessera::InvalidArgument>("--save: ", error.what());
  }
}

/// The newest step in --save as rank 0 sees it, -1 for none.
std::int64_t newest(const Options& o, dist::Communicator& comm) {
  std::vector<std::int64_t> step{-1};
  if (comm.rank() == 0) {
    step[0] = of_save([&] { return dist::newest_step(o.save).value_or(-1); });
  }
  dist::broadcast(comm, std::span(step), 0, "newest step").wait();
  return step[0];
}

/// Without --resume a folder with steps is another run's.
void refuse_steps(const Options& o, dist::Communicator& comm) {
  const std::int64_t step = newest(o, comm);
  tessera::check(step < 0, "--save: ", o.save, " holds step ", step,
                 " of another run; use --resume to go on from it, or another folder");
}

/// Removes what --keep does not ask for. Returns a warning if that fails.
std::optional<std::string> prune(const Options& o) {
  const tessera::BusyScope busy("removes old checkpoints");
  try {
    dist::keep_newest_steps(o.save, o.keep);
  } catch (const tessera::Error& error) {
    return std::string("warning: old steps could not be removed, training goes on: ") +
           error.what();
  }
  return std::nullopt;
}

/// Errors name the option that asked for it.
std::unique_ptr<dist::TrainingCheckpoint> open_checkpoint(const Options& o,
                                                          dist::Communicator& comm) {
  const auto step = o.resume_step < 0 ? std::nullopt : std::optional(o.resume_step);
  try {
    return std::make_unique<dist::TrainingCheckpoint>(o.save, step, comm);
  } catch (const tessera::IoError& error) {
    tessera::fail<tessera::IoError>("--resume: ", error.what(), " (--resume=N takes step N)");
  }
}

}  // namespace

std::unique_ptr<dist::TrainingCheckpoint> open_resumed(Options& o, dist::Communicator& comm) {
  if (o.save.empty()) {
    return nullptr;
  }
  if (!o.resume) {
    refuse_steps(o, comm);
    return nullptr;
  }
  auto checkpoint = open_checkpoint(o, comm);
  adopt(o, checkpoint->facts().options);
  adopt_steps(o, checkpoint->facts(), comm.rank() == 0);
  if (!o.init.empty() && comm.rank() == 0) {
    tessera::log_info("--init: ", o.init, " is not read; the weights are those of step ",
                      checkpoint->facts().step);
  }
  return checkpoint;
}

void prepare_saving(const Options& o, dist::Communicator& comm) {
  if (o.save.empty() || comm.rank() != 0) {
    return;
  }
  const std::string probe = tessera::join_path(o.save, ".step-probe");
  of_save([&] {
    dist::prepare_for_steps(o.save);
    tessera::nn::write_array_file(probe, {});
    tessera::remove_tree(probe);
  });
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
  return run.world.rank() == 0 ? prune(o) : std::nullopt;
}
