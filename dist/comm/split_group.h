// What the ranks of a group settle among themselves when they split it or allocate.
#pragma once

#include <tessera/dist/comm/communicator.h>
#include <tessera/dist/comm/membership.h>

namespace tessera::dist {

/// Collective over `parent`: this rank's part in a split, without a name: the ranks that share its
/// color, ordered by (key, rank).
[[nodiscard]] Membership agree_on_split(Communicator& parent, int color, int key);

/// Collective over `group`: throws InvalidArgument unless every rank asks for `nbytes`.
void agree_on_size(Communicator& group, std::size_t nbytes);

/// This machine's name.
[[nodiscard]] std::string host_name();

}  // namespace tessera::dist
