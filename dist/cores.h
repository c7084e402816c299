// Sharing a host's cores among its ranks.
#pragma once

#include <string>

#include <tessera/dist/comm/communicator.h>

namespace tessera::dist {

/// A rank's share of its host's cores.
struct CoreShare {
  int cores = 1;   ///< that the rank may run on, shared with others or not
  int ranks = 1;   ///< of this host that may run on the same cores
  int before = 0;  ///< of those, ranks with a smaller number
  int used = 1;    ///< cores that some rank of this host may run on
  int host = 1;    ///< cores that the launcher itself may run on

  /// Threads that keep all cores busy and none twice.
  [[nodiscard]] int threads() const { return cores < ranks ? 1 : cores / ranks; }
};

/// The share of the calling rank. Collective.
[[nodiscard]] CoreShare share_cores(Communicator& comm);

/// Gives the calling rank `threads` threads (0: TESSERA_THREADS, or else its share of the cores),
/// each tied to a core of its own where the ranks' threads fit the cores. The first rank that is
/// bound to fewer cores than help it, or has more threads than cores, says so in the log.
/// `launched`: a launcher may have bound the ranks. Returns whether threads are tied. Collective.
bool take_cores(Communicator& comm, int threads, bool launched);

/// What to tell a person about a rank with `threads` threads; empty when all is well.
[[nodiscard]] std::string binding_advice(const CoreShare& share, int threads, bool launched);

}  // namespace tessera::dist
