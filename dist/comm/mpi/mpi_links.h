// What MPI sends messages between hosts through.
#pragma once

#include <string>
#include <vector>

#include <tessera/dist/comm/mpi/mpi_topology.h>

namespace tessera::dist::mpi {

/// By host: "tcp" where the first ranks of this host and that one have a TCP connection, else
/// "mpi": some other network of MPI's. Collective over `world`.
[[nodiscard]] std::vector<std::string> links_to_hosts(MPI_Comm world, const Topology& topology);

}  // namespace tessera::dist::mpi
