#include <tessera/dist/comm/membership.h>

#include <numeric>

namespace tessera::dist {

Membership whole_world(int rank, int size) {
  Membership world{"world", rank, std::vector<int>(static_cast<std::size_t>(size))};
  std::iota(world.world_ranks.begin(), world.world_ranks.end(), 0);
  return world;
}

}  // namespace tessera::dist
