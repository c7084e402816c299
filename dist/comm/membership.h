// Who is in a group.
#pragma once

#include <string>
#include <vector>

namespace tessera::dist {

/// A group as one of its members sees it. Collectives count ranks within the group; people know a
/// rank by its number in the world, so that is what messages name.
struct Membership {
  std::string name;              ///< "world", "world/host", ...
  int rank = 0;                  ///< this member
  std::vector<int> world_ranks;  ///< by rank in the group

  [[nodiscard]] int size() const { return static_cast<int>(world_ranks.size()); }
  [[nodiscard]] int world_rank(int member) const {
    return world_ranks[static_cast<std::size_t>(member)];
  }
};

}  // namespace tessera::dist
