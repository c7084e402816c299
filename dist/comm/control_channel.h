// Groups whose heartbeats travel beside their data.
#pragma once

#include <memory>

#include <tessera/dist/comm/communicator.h>

namespace tessera::dist {

/// A communicator whose collectives go over `data`, a backend that need not know how its ranks are,
/// and whose heartbeats and failures go over `control`, a group of the same ranks that does: so
/// watchdog and last words serve any backend. Groups that are split off have both. Throws
/// InvalidArgument for groups of other sizes or another order.
[[nodiscard]] std::shared_ptr<Communicator> with_control_channel(
    std::shared_ptr<Communicator> data, std::shared_ptr<Communicator> control);

}  // namespace tessera::dist
