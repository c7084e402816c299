// Any rank of any world, alone: collectives end at once and move nothing. For planning and for
// tests of what would be sent.
#pragma once

#include <memory>

#include <tessera/dist/comm/communicator.h>

namespace tessera::dist {

/// Rank `rank` of a world of `size` ranks. What is gathered or exchanged looks as if every rank had
/// sent what this one has; other receive buffers are left as they are, and a split keeps the whole
/// group. Wrap a Recorder around it to see what was launched.
[[nodiscard]] std::shared_ptr<Communicator> make_fake(int rank, int size);

}  // namespace tessera::dist
