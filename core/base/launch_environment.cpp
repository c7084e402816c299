#include <tessera/core/base/launch_environment.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>

namespace tessera {
namespace {

struct Launcher {
  const char* variable;
  const char* rank;
  const char* name;
};

// mpirun inside a batch job sees the job's variables too, so it comes first; srun's own step comes
// before the whole job's.
constexpr std::array<Launcher, 5> kLaunchers{
    {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "Open MPI's mpirun"},
     {"PMI_SIZE", "PMI_RANK", "MPICH's mpirun or srun --mpi=pmi2"},
     {"WORLD_SIZE", "RANK", "torchrun"},
     {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun"},
     {"SLURM_NTASKS", "SLURM_PROCID", "srun"}}};

/// 0 when the variable is unset or no number.
int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  int number = 0;
  if (text != nullptr) {
    std::from_chars(text, text + std::strlen(text), number);
  }
  return number;
}

}  // namespace

LaunchEnvironment launch_environment() {
  for (const auto& [variable, rank, name] : kLaunchers) {
    if (const int ranks = number_in(variable); ranks > 0) {
      return {ranks, number_in(rank), variable, name};
    }
  }
  return {};
}

}  // namespace tessera
