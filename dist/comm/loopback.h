// Ranks as threads of one process: the backend of a lone process and of tests.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include <tessera/dist/comm/communicator.h>

namespace tessera::dist {

struct LoopbackOptions {
  /// False: ranks pretend that they cannot reach each other's buffers, so that payloads take the
  /// way they take between processes.
  bool direct = true;
  /// How long a collective of `run_ranks` waits for a silent rank. Zero: for ever; for one that has
  /// ended it does not wait all the same.
  std::chrono::milliseconds deadline{60'000};
  /// False: nobody watches the ranks of `run_ranks`, and one that has ended is waited for, too.
  bool watched = true;
};

/// The communicators of a world of `size` thread-ranks, one for each; each is used by its own
/// thread, and creates the group's "world".
[[nodiscard]] std::vector<std::shared_ptr<Communicator>> make_loopback(int size,
                                                                       LoopbackOptions = {});

/// Runs `body` on `ranks` threads at once, each with a communicator and a context of its own
/// (rank, world size, log prefix, the caller's seed). An exception on one rank fails the
/// communicators of all; when all have ended, the first one is rethrown. A rank that waits for one
/// that has ended, or is silent for longer than the deadline, fails as `with_watchdog` says.
void run_ranks(int ranks, const std::function<void(Communicator&)>& body, LoopbackOptions = {});

}  // namespace tessera::dist
