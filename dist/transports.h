// How the ranks of a group reach each other.
#pragma once

#include <string>

#include <tessera/dist/comm/communicator.h>

namespace tessera::dist {

/// The transport of every pair of ranks, pairs of a kind together:
/// "a: 0 1 (shm); b: 2 3 (shm); between hosts: tcp". Where hosts are joined in different ways, each
/// pair of them is named. Collective.
[[nodiscard]] std::string describe_transports(Communicator& comm);

}  // namespace tessera::dist
