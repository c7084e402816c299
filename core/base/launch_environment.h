// What the environment says about who started this process, and with how many others.
#pragma once

#include <string>

namespace tessera {

struct LaunchEnvironment {
  int ranks = 1;
  int rank = 0;          ///< this process's number among them
  std::string variable;  ///< the variable that says so, empty when none does
  std::string launcher;  ///< who sets it
};

/// Reads the variables of Open MPI's mpirun, MPICH's, torchrun and srun; the nearest launcher that
/// speaks counts. Without any: one rank.
[[nodiscard]] LaunchEnvironment launch_environment();

}  // namespace tessera
