// What the environment says in vain is found when a program starts.
#pragma once

namespace tessera {

/// Throws InvalidArgument naming a setting whose text in the environment cannot be read, and says
/// in the log, with the name that is nearest, which TESSERA_ variables belong to no setting.
void check_settings();

/// Says in the log which variables do nothing: TESSERA_ ones that belong to no setting, with the
/// name that is nearest, and OMP_NUM_THREADS, where neither TESSERA_THREADS nor the program
/// (`threads_given`) says how many threads kernels use. Once a process, and of a job's ranks the
/// first alone does. `dist::World::start`, the first tensor and the first reading of a setting call
/// it.
void say_idle_variables(bool threads_given = false);

}  // namespace tessera
