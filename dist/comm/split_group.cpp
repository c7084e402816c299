#include <tessera/dist/comm/split_group.h>

#include <unistd.h>

#include <algorithm>
#include <array>

#include <tessera/dist/comm/collectives.h>

namespace tessera::dist {

Membership agree_on_split(Communicator& parent, int color, int key) {
  const std::array<std::int32_t, 2> mine{color, key};
  std::vector<std::int32_t> all(mine.size() * static_cast<std::size_t>(parent.size()));
  all_gather<std::int32_t>(parent, mine, all, "split").wait();
  const auto key_of = [&](int rank) { return all[static_cast<std::size_t>(rank) * 2 + 1]; };
  std::vector<int> members;
  for (int rank = 0; rank < parent.size(); ++rank) {
    if (all[static_cast<std::size_t>(rank) * 2] == color) {
      members.push_back(rank);
    }
  }
  std::ranges::stable_sort(members, {}, key_of);
  Membership part;
  part.rank = static_cast<int>(std::ranges::find(members, parent.rank()) - members.begin());
  for (const int member : members) {
    part.world_ranks.push_back(parent.world_rank(member));
  }
  return part;
}

void agree_on_size(Communicator& group, std::size_t nbytes) {
  const std::array<std::int64_t, 1> mine{static_cast<std::int64_t>(nbytes)};
  std::vector<std::int64_t> all(static_cast<std::size_t>(group.size()));
  all_gather<std::int64_t>(group, mine, all, "allocate").wait();
  const auto other = std::ranges::find_if(all, [&](std::int64_t n) { return n != all[0]; });
  if (other != all.end()) {
    fail<InvalidArgument>("allocate: ranks ask for different sizes; got ", *other,
                          " bytes on rank ",
                          group.world_rank(static_cast<int>(other - all.begin())), ", expected ",
                          all[0], " as on rank ", group.world_rank(0));
  }
  // All go on, or none: what comes next hears of no failure.
  barrier(group, "allocate").wait();
}

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace tessera::dist
