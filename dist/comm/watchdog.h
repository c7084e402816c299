// Turns a hang into an error that names who is missing.
#pragma once

#include <chrono>
#include <memory>

#include <tessera/dist/comm/communicator.h>

namespace tessera::dist {

struct WatchdogOptions {
  /// How long a collective may wait for a silent rank. Zero: for ever, and no thread is started.
  std::chrono::milliseconds deadline{60'000};
};

/// A communicator whose collectives fail with Timeout, on every rank that still lives, once one has
/// waited for `deadline`. The text names the ranks that did not arrive, their hosts, where they are
/// instead, and whether their processes show signs of life. Time in which all of them say that they
/// are busy (BusyScope), and show signs of life, does not count. Groups split off are watched too.
/// Returns `inner` when the backend keeps no status board.
[[nodiscard]] std::shared_ptr<Communicator> with_watchdog(std::shared_ptr<Communicator> inner,
                                                          WatchdogOptions options = {});

}  // namespace tessera::dist
