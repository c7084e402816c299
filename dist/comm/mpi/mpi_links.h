// What MPI sends messages between hosts through.
#pragma once

#include <map>
#include <string>

#include <tessera/dist/comm/mpi/mpi_topology.h>

namespace tessera::dist::mpi {

/// Addresses by the names of hosts.
using Links = std::map<std::string, std::string>;

/// "tcp" where the first ranks of this host and that one have a TCP connection, else
/// "mpi": some other network of MPI's. Collective over `world`.
[[nodiscard]] Links links_to_hosts(MPI_Comm world, const Topology& topology);

}  // namespace tessera::dist::mpi
