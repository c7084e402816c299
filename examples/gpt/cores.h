// Which cores the ranks of a host may use.
#pragma once

#include <string>

#include <tessera/dist/world.h>

/// This rank's share of its host's cores.
struct CoreShare {
  int cores = 1;   ///< that the rank may run on, shared with others or not
  int ranks = 1;   ///< of this host that may run on the same cores
  int before = 0;  ///< of those, ranks with a smaller number
  int used = 1;    ///< cores that some rank of this host may run on
  int host = 1;    ///< cores that the launcher itself may run on

  /// Threads that keep all cores busy and none twice.
  [[nodiscard]] int threads() const { return cores < ranks ? 1 : cores / ranks; }
};

/// Collective.
[[nodiscard]] CoreShare share_cores(const tessera::dist::World& world);

/// What to tell a person about a rank with `threads` threads; empty when all is well.
[[nodiscard]] std::string binding_advice(const CoreShare& share, int threads, bool launched);
