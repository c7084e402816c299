// Which ranks of a group share a host, and the memory through which they meet.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tessera/dist/comm/mpi/mpi_call.h>
#include <tessera/dist/comm/shared/control_block.h>
#include <tessera/dist/comm/shm/segment.h>

namespace tessera::dist::mpi {

/// The layout of a group over hosts, from one rank's point of view.
struct Topology {
  std::vector<int> host_of;             ///< by rank: index of its host, in order of first rank
  std::vector<int> local_rank_of;       ///< by rank: its index among the ranks of its host
  std::vector<std::vector<int>> hosts;  ///< by host: its ranks, ascending
  std::vector<std::string> names;       ///< by rank: name of its host, of no other's
  int rank = 0;

  [[nodiscard]] int host() const { return host_of[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] int local_rank() const { return local_rank_of[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] int host_count() const { return static_cast<int>(hosts.size()); }
  [[nodiscard]] const std::vector<int>& local_ranks() const {
    return hosts[static_cast<std::size_t>(host())];
  }
};

/// A group with its local part set up: ranks that cannot map each other's memory, though MPI
/// counts them to one host, are treated as hosts of their own.
struct LocalSetup {
  CommHandle local;  ///< the ranks of this host
  std::shared_ptr<SharedSegment> segment;
  ControlBlock control;
  Topology topology;
};

/// Collective over `world`.
[[nodiscard]] LocalSetup set_up_local(MPI_Comm world);

/// Collective over `local`: a zero-filled segment that all of its ranks map. Throws DeviceError on
/// all of them when one cannot.
[[nodiscard]] std::shared_ptr<SharedSegment> make_segment(MPI_Comm local, std::size_t nbytes);

}  // namespace tessera::dist::mpi
