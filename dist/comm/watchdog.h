// Turns a hang into an error that names who is missing.
#pragma once

#include <chrono>
#include <memory>

#include <tessera/dist/comm/communicator.h>

namespace tessera::dist {

struct WatchdogOptions {
  /// How long a collective may wait for a silent rank. Zero: for ever, unless it has left.
  std::chrono::milliseconds deadline{60'000};
};

/// A communicator whose collectives fail with Timeout, on every rank that still lives, once one has
/// waited for `deadline`. The text names the ranks that did not arrive, their hosts, where they are
/// instead, and whether their processes show signs of life. One that is busy (BusyScope), and shows
/// signs of life, is waited for ten times as long; one that has let go of the group, or come to the
/// end of the program, is not waited for. After 5, 15, 45 s and so on one of the ranks that wait
/// says for whom, in the log. Groups split off are watched too, and a communicator is watched once.
/// Throws Unsupported when the backend keeps no table of heartbeats (with_control_channel).
[[nodiscard]] std::shared_ptr<Communicator> with_watchdog(std::shared_ptr<Communicator> inner,
                                                          WatchdogOptions options = {});

}  // namespace tessera::dist
