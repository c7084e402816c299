#include <tessera/dist/launcher.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include <tessera/core/base/error.h>

namespace tessera::dist {
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

Announcement announced_world() {
  for (const auto& [variable, rank, name] : kLaunchers) {
    if (const int ranks = number_in(variable); ranks > 0) {
      return {ranks, number_in(rank), variable, name};
    }
  }
  return {};
}

void require_delivered(const Announcement& announced, int delivered, bool has_transport) {
  const bool by_srun = announced.launcher.find("srun") != std::string::npos;
  check(announced.ranks <= delivered, "world: ", announced.launcher, " announces ", announced.ranks,
        " ranks (", announced.variable, "=", announced.ranks, ") but ", delivered,
        delivered == 1 ? " was" : " were", " formed; ",
        has_transport ? "start it with the mpirun of the MPI that Tessera was built with"
                      : "build Tessera with -DTESSERA_WITH_MPI=ON and start it with MPI's mpirun",
        ": mpirun -n ", announced.ranks, " --bind-to none PROGRAM",
        by_srun ? " (or srun --mpi=pmix PROGRAM)" : "");
}

}  // namespace tessera::dist
