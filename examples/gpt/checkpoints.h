// When and where a run is saved, and how it goes on from there.
#pragma once

#include <memory>
#include <optional>

#include <tessera/dist/checkpoint/training_state.h>

#include "options.h"
#include "stepper.h"

/// Opens the checkpoint that --resume asks for and adopts its options; nothing without --resume:
/// then a --save folder that holds steps already is refused. Collective.
std::unique_ptr<tessera::dist::TrainingCheckpoint> open_resumed(Options& options,
                                                                tessera::dist::Communicator& comm);

/// Makes the folder of --save and shows that checkpoints can be written there: else training would
/// fail at its end, or go on for hours without one.
void prepare_saving(const Options& options, tessera::dist::Communicator& comm);

/// Brings the run to where the checkpoint was taken, and moves later steps aside. Collective.
void restore(const Run& run, tessera::dist::TrainingCheckpoint& checkpoint);

/// Saves step `step` and prunes old ones. A failure is a warning, but an error for the `last` step.
/// Returns what a person should read. Collective.
std::optional<std::string> save_step(const Run& run, std::int64_t step, bool last);
