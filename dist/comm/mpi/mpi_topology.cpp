#include <tessera/dist/comm/mpi/mpi_topology.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/counted.h>
#include <tessera/dist/comm/split_group.h>

namespace tessera::dist::mpi {
namespace {

struct Residence {
  std::int32_t leader = 0;  ///< rank in the group of the first rank of the host
  std::array<char, 64> name{};
};

/// Containers often have one name, and so have the parts of a host that share no memory.
void tell_apart(Topology& topology) {
  std::map<std::string, int> hosts_named;
  for (const std::vector<int>& ranks : topology.hosts) {
    const std::string name = topology.names[static_cast<std::size_t>(ranks.front())];
    const int number = ++hosts_named[name];
    if (number == 1) {
      continue;
    }
    for (const int rank : ranks) {
      topology.names[static_cast<std::size_t>(rank)] = tessera::detail::concat(name, '#', number);
    }
  }
}

Topology survey(MPI_Comm world, MPI_Comm local) {
  Topology topology;
  topology.rank = rank_in(world);
  Residence mine;
  mine.leader = gather_values(local, topology.rank).front();
  const std::string name = host_name();
  std::memcpy(mine.name.data(), name.data(), std::min(name.size(), mine.name.size() - 1));
  std::vector<int> leaders;
  for (const Residence& residence : gather_values(world, mine)) {
    const int rank = static_cast<int>(topology.names.size());
    const auto known = std::ranges::find(leaders, residence.leader);
    const auto host = static_cast<std::size_t>(known - leaders.begin());
    if (known == leaders.end()) {
      leaders.push_back(residence.leader);
      topology.hosts.emplace_back();
    }
    topology.host_of.push_back(static_cast<int>(host));
    topology.local_rank_of.push_back(static_cast<int>(topology.hosts[host].size()));
    topology.hosts[host].push_back(rank);
    topology.names.emplace_back(residence.name.data());
  }
  tell_apart(topology);
  return topology;
}

}  // namespace

std::shared_ptr<SharedSegment> make_segment(MPI_Comm local, std::size_t nbytes) {
  const int rank = rank_in(local);
  std::shared_ptr<SharedSegment> segment;
  SegmentAddress mine;
  std::string trouble;
  const auto attempt = [&](auto&& action) {
    try {
      action();
    } catch (const DeviceError& error) {
      trouble = error.what();
    }
  };
  if (rank == 0) {
    attempt([&] { segment = SharedSegment::create(nbytes); });
    mine = segment == nullptr ? SegmentAddress{} : segment->address();
  }
  const SegmentAddress address = gather_values(local, mine).front();
  if (rank != 0 && address.nbytes > 0) {
    attempt([&] { segment = SharedSegment::open(address); });
  }
  const std::vector<char> mapped = gather_values<char>(local, segment != nullptr);
  check<DeviceError>(
      std::ranges::find(mapped, 0) == mapped.end(),
      trouble.empty() ? "shared memory: a rank of this host cannot map it" : trouble);
  segment->seal();
  return segment;
}

LocalSetup set_up_local(MPI_Comm world) {
  LocalSetup setup;
  setup.local = CommHandle::split_by_host(world);
  const int ranks = ranks_in(world), rank = rank_in(world);
  const auto make_control = [&] {
    setup.segment = make_segment(setup.local.get(), ControlBlock::bytes(setup.local.size(), ranks));
  };
  try {
    make_control();
  } catch (const DeviceError&) {  // on all its ranks alike: the host falls apart into hosts of one
    setup.local = CommHandle::split(setup.local.get(), rank, 0);
    make_control();
  }
  if (ranks > 1) {  // every process counts its share of what all of its host map
    const auto local = static_cast<std::size_t>(setup.local.size());
    const auto counting =
        counted(setup.segment, setup.segment->nbytes() / local, MemoryCategory::communication);
    setup.segment = std::shared_ptr<SharedSegment>(counting, setup.segment.get());
  }
  setup.control = ControlBlock(setup.segment->data(), setup.local.size(), ranks);
  setup.topology = survey(world, setup.local.get());
  return setup;
}

}  // namespace tessera::dist::mpi
