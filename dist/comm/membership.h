// Who belongs to the groups that a split makes.
#pragma once

#include <vector>

#include <tessera/dist/comm/communicator.h>

namespace tessera::dist {

/// A rank's part in a split: ranks of the parent that share its color, ordered by (key, rank).
struct Membership {
  std::vector<int> members;  ///< ranks in the parent group
  int rank = 0;              ///< index of this rank among them
};

/// Collective over `parent`.
[[nodiscard]] Membership agree_on_split(Communicator& parent, int color, int key);

/// Collective over `group`: throws InvalidArgument unless every rank asks for `nbytes`.
void agree_on_size(Communicator& group, std::size_t nbytes);

/// This machine's name.
[[nodiscard]] std::string host_name();

}  // namespace tessera::dist
