#include <tessera/dist/comm/membership.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <tuple>

#include <tessera/dist/comm/collectives.h>

namespace tessera::dist {

Membership agree_on_split(Communicator& parent, int color, int key) {
  const std::array<std::int32_t, 2> mine{color, key};
  std::vector<std::int32_t> all(mine.size() * static_cast<std::size_t>(parent.size()));
  all_gather<std::int32_t>(parent, mine, all, "split").wait();
  const auto key_of = [&](int rank) { return all[static_cast<std::size_t>(rank) * 2 + 1]; };
  Membership membership;
  for (int rank = 0; rank < parent.size(); ++rank) {
    if (all[static_cast<std::size_t>(rank) * 2] == color) {
      membership.members.push_back(rank);
    }
  }
  std::ranges::stable_sort(membership.members, {}, key_of);
  const auto own = std::ranges::find(membership.members, parent.rank());
  membership.rank = static_cast<int>(own - membership.members.begin());
  return membership;
}

void agree_on_size(Communicator& group, std::size_t nbytes) {
  const std::array<std::int64_t, 1> mine{static_cast<std::int64_t>(nbytes)};
  std::vector<std::int64_t> all(static_cast<std::size_t>(group.size()));
  all_gather<std::int64_t>(group, mine, all, "allocate").wait();
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    check(all[rank] == all[0], "allocate: ranks ask for different sizes; got ", all[rank],
          " bytes on rank ", rank, ", expected ", all[0], " as on rank 0");
  }
}

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace tessera::dist
