#include <tessera/dist/comm/mpi/mpi_communicator.h>

#include <algorithm>
#include <utility>

#include <tessera/core/base/error.h>
#include <tessera/core/device/huge_pages.h>
#include <tessera/dist/comm/collectives.h>
#include <tessera/dist/comm/mpi/mpi_heartbeat_table.h>
#include <tessera/dist/comm/mpi/mpi_hosts_core.h>
#include <tessera/dist/comm/shared/shared_group.h>
#include <tessera/dist/comm/split_group.h>

namespace tessera::dist::mpi {
namespace {

constexpr std::size_t kSmallPage = 4096;

}  // namespace

struct MpiCommunicator::Parts {
  CommHandle comm;
  LocalSetup setup;
  Membership membership;
  Family family;
  std::set<int> groups;
  int number = 0;
  std::unique_ptr<GroupCore> core;
  std::shared_ptr<Health> health;
};

std::shared_ptr<MpiCommunicator> MpiCommunicator::make(CommHandle comm, std::string name,
                                                       int world_rank, Family family,
                                                       std::set<int> ancestors,
                                                       std::shared_ptr<Health> parent) {
  Parts parts;
  parts.comm = std::move(comm);
  parts.family = std::move(family);
  parts.groups = std::move(ancestors);
  parts.setup = set_up_local(parts.comm.get());
  parts.number = parts.family.segments->new_group();
  parts.groups.insert(parts.number);
  const LocalSetup& setup = parts.setup;
  parts.membership = {std::move(name), setup.topology.rank,
                      gather_values(parts.comm.get(), world_rank)};
  if (parent == nullptr) {
    parts.family.links = links_to_hosts(parts.comm.get(), setup.topology);
  }
  const auto addresses = std::make_shared<SegmentSpace>(parts.family.segments, parts.groups);
  if (setup.topology.host_count() == 1) {
    parts.core =
        std::make_unique<SharedGroup>(setup.control, parts.membership, addresses, setup.segment);
  } else {
    parts.core = std::make_unique<HostsCore>(parts.comm.get(), setup.control, setup.topology,
                                             parts.membership, addresses);
  }
  parts.health = std::make_shared<Health>(setup.control.failure(), setup.topology.rank,
                                          std::move(parent), setup.segment);
  return std::shared_ptr<MpiCommunicator>(new MpiCommunicator(std::move(parts)));
}

MpiCommunicator::MpiCommunicator(Parts parts)
    : GroupBase(std::move(parts.membership), std::move(parts.core), std::move(parts.health),
                parts.family.progress),
      comm_(std::move(parts.comm)),
      local_(std::move(parts.setup.local)),
      topology_(std::move(parts.setup.topology)),
      family_(std::move(parts.family)),
      groups_(std::move(parts.groups)),
      number_(parts.number) {
  if (topology_.host_count() == 1) {
    table_ = std::make_shared<HeartbeatTable>(&parts.setup.control.heartbeat(0),
                                              parts.setup.control.failure(), rank(), size(),
                                              parts.setup.segment);
  } else {
    table_ = std::make_shared<MpiHeartbeatTable>(comm_.get(), parts.setup.control, topology_,
                                                 parts.setup.segment);
  }
}

MpiCommunicator::~MpiCommunicator() = default;

std::string MpiCommunicator::transport(int peer) const {
  if (peer == rank()) {
    return "self";
  }
  const auto at = static_cast<std::size_t>(peer);
  return topology_.host_of[at] == topology_.host() ? "shm" : family_.links.at(topology_.names[at]);
}

std::string MpiCommunicator::host(int peer) const {
  return topology_.names[static_cast<std::size_t>(peer)];
}

CommBuffer MpiCommunicator::allocate(std::size_t nbytes) {
  agree_on_size(*this, nbytes);
  const std::size_t page = nbytes < kHugePage ? kSmallPage : kHugePage;
  const std::size_t room = (std::max<std::size_t>(nbytes, 1) + page - 1) / page * page;
  const auto members = topology_.local_ranks().size();
  const auto segment = make_segment(local_.get(), room * members);
  std::byte* own = segment->data() + room * static_cast<std::size_t>(topology_.local_rank());
  CommBuffer buffer{own, nbytes, SegmentTable::add(family_.segments, segment, number_),
                    std::vector<std::byte*>(static_cast<std::size_t>(size()))};
  for (std::size_t i = 0; i < members; ++i) {
    buffer.peers[static_cast<std::size_t>(topology_.local_ranks()[i])] = segment->data() + room * i;
  }
  return buffer;
}

std::shared_ptr<Communicator> MpiCommunicator::split(int color, int key, std::string name) {
  check(color >= 0, "split: color below 0; got ", color);
  barrier(*this, "split").wait();  // unlike MPI it hears of a rank that gave up
  return make(CommHandle::split(comm_.get(), color, key), std::move(name), world_rank(rank()),
              family_, groups_, health());
}

}  // namespace tessera::dist::mpi
