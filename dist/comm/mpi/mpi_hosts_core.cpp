#include <tessera/dist/comm/mpi/mpi_hosts_core.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/validate.h>
#include <tessera/dist/reduce/tree_sum.h>

namespace tessera::dist::mpi {
namespace {

constexpr std::size_t kPairBytes = std::size_t{4} << 20;  // a piece of a send

int smallest_host(const Topology& topology) {
  const auto smallest = std::ranges::min_element(topology.hosts, {}, &std::vector<int>::size);
  return static_cast<int>(smallest->size());
}

/// Bytes of a part, as MPI counts them.
int part_bytes(const Collective& c) {
  const std::size_t nbytes = c.count * size_of(c.dtype);
  check<Unsupported>(nbytes <= INT_MAX, to_string(c.kind), ": part too large for MPI; got ", nbytes,
                     " bytes, expected at most ", INT_MAX);
  return static_cast<int>(nbytes);
}

}  // namespace

HostsCore::HostsCore(MPI_Comm comm, ControlBlock block, Topology topology, Roster roster,
                     std::shared_ptr<const AddressSpace> addresses)
    : scatter_(Group::duplicate(comm)),
      gather_(Group::duplicate(comm)),
      moves_(Group::duplicate(comm)),
      pairs_(Group::duplicate(comm)),
      block_(block),
      topology_(std::move(topology)),
      roster_(std::move(roster)),
      addresses_(std::move(addresses)),
      default_tree_(std::make_shared<ReductionTree>(
          ReductionTree::over_ranks(static_cast<int>(topology_.host_of.size())))),
      lanes_(smallest_host(topology_)) {}

Task HostsCore::start(const Collective& c) {
  if (c.kind == CollectiveKind::send) {
    return send(c);
  }
  return c.kind == CollectiveKind::receive ? receive(c) : run(c);
}

Header HostsCore::header_of(const Collective& c) const {
  Header header{signature_of(c), 1};
  if (c.kind == CollectiveKind::all_reduce && block_.members() > 1) {
    const std::size_t element = size_of(c.dtype);
    const std::size_t given =
        send_count(c, topology_.rank, static_cast<int>(topology_.host_of.size()));
    header.reachable = addresses_->describe(c.send, given * element).segment != 0 &&
                       addresses_->describe(c.receive, c.count * element).segment != 0;
  }
  return header;
}

void HostsCore::require_agreement(const std::vector<Header>& headers) const {
  std::vector<RankSignature> signatures;
  for (std::size_t rank = 0; rank < headers.size(); ++rank) {
    signatures.push_back({static_cast<int>(rank), &headers[rank].signature});
  }
  require_match(roster_, signatures);
}

Task HostsCore::run(const Collective& c) {
  const Header mine = header_of(c);
  std::vector<Header> headers(topology_.host_of.size());
  MPI_Request request = MPI_REQUEST_NULL;
  require(MPI_Iallgather(&mine, sizeof mine, MPI_BYTE, headers.data(), sizeof mine, MPI_BYTE,
                         moves_.get(), &request),
          "MPI_Iallgather");
  co_await Until{[&request] { return test_all({&request, 1}); }};
  require_agreement(headers);
  if (c.count == 0) {
    co_return;  // a barrier too: everybody's header is here
  }
  const bool reachable =
      std::ranges::all_of(headers, [](const Header& h) { return h.reachable != 0; });
  Task rest = c.kind == CollectiveKind::all_reduce       ? all_reduce(c, reachable)
              : c.kind == CollectiveKind::reduce_scatter ? reduce_scatter(c)
                                                         : move_bytes(c);
  co_await Finish(rest);
}

MPI_Request HostsCore::start_moving(const Collective& c, std::vector<std::byte>& copy) const {
  const int nbytes = part_bytes(c);
  const auto ranks = topology_.host_of.size();
  const std::size_t given =
      send_count(c, topology_.rank, static_cast<int>(ranks)) * size_of(c.dtype);
  if (c.send != nullptr && c.kind != CollectiveKind::broadcast) {  // MPI forbids overlaps
    const auto* send = static_cast<const std::byte*>(c.send);
    copy.assign(send, send + given);
  }
  MPI_Request request = MPI_REQUEST_NULL;
  if (c.kind == CollectiveKind::all_gather) {
    require(MPI_Iallgather(copy.data(), nbytes, MPI_BYTE, c.receive, nbytes, MPI_BYTE, moves_.get(),
                           &request),
            "MPI_Iallgather");
  } else if (c.kind == CollectiveKind::all_to_all) {
    require(MPI_Ialltoall(copy.data(), nbytes, MPI_BYTE, c.receive, nbytes, MPI_BYTE, moves_.get(),
                          &request),
            "MPI_Ialltoall");
  } else if (c.kind == CollectiveKind::broadcast) {
    const bool root = c.peer == topology_.rank;
    void* buffer = root ? const_cast<void*>(c.send) : c.receive;
    require(MPI_Ibcast(buffer, nbytes, MPI_BYTE, c.peer, moves_.get(), &request), "MPI_Ibcast");
  }
  return request;
}

Task HostsCore::move_bytes(const Collective& c) {
  std::vector<std::byte> copy;
  MPI_Request request = start_moving(c, copy);
  co_await Until{[&request] { return test_all({&request, 1}); }};
  const bool root = c.kind == CollectiveKind::broadcast && c.peer == topology_.rank;
  if (root && c.receive != nullptr && c.receive != c.send) {
    std::memcpy(c.receive, c.send, c.count * size_of(c.dtype));
  }
}

/// Every rank gets all contributions to its part, and adds them in the order of the tree.
Task HostsCore::reduce_scatter(const Collective& c) {
  const ReductionTree& tree = c.tree == nullptr ? *default_tree_ : *c.tree;
  const std::size_t ranks = topology_.host_of.size();
  const std::size_t element = size_of(c.dtype);
  const auto blocks = static_cast<std::size_t>(tree.max_blocks());
  const auto held = static_cast<std::size_t>(blocks_of(c, topology_.rank));
  Collective gathered = c;
  gathered.kind = CollectiveKind::all_to_all;
  gathered.count = c.count * blocks;
  gathered.tree = nullptr;
  // [part][block][element]: a part's blocks lie together, absent ones are left as zeros.
  std::vector<std::byte> parts(ranks * gathered.count * element);
  for (std::size_t part = 0; part < ranks; ++part) {
    for (std::size_t b = 0; b < held; ++b) {
      std::memcpy(parts.data() + (part * blocks + b) * c.count * element,
                  static_cast<const std::byte*>(c.send) + (b * ranks + part) * c.count * element,
                  c.count * element);
    }
  }
  std::vector<std::byte> received(parts.size());
  gathered.send = parts.data();
  gathered.receive = received.data();
  Task moving = move_bytes(gathered);
  co_await Finish(moving);
  std::vector<TreeSource> sources;
  for (const TreeLeaf& leaf : tree.leaves()) {
    const std::size_t block =
        static_cast<std::size_t>(leaf.rank) * blocks + static_cast<std::size_t>(leaf.slot);
    sources.push_back({received.data() + block * c.count * element, false});
  }
  tree_reduce({c.reduce, c.dtype, tree.steps(), sources, {&c.receive, 1}, c.count});
}

Task HostsCore::send(const Collective& c) {
  const Signature mine = signature_of(c);
  MPI_Request request = MPI_REQUEST_NULL;
  require(MPI_Isend(&mine, sizeof mine, MPI_BYTE, c.peer, 0, pairs_.get(), &request), "MPI_Isend");
  co_await Until{[&request] { return test_all({&request, 1}); }};
  const std::size_t nbytes = c.count * size_of(c.dtype);
  for (std::size_t done = 0; done < nbytes; done += kPairBytes) {
    require(MPI_Isend(static_cast<const std::byte*>(c.send) + done,
                      static_cast<int>(std::min(kPairBytes, nbytes - done)), MPI_BYTE, c.peer, 0,
                      pairs_.get(), &request),
            "MPI_Isend");
    co_await Until{[&request] { return test_all({&request, 1}); }};
  }
}

Task HostsCore::receive(const Collective& c) {
  Signature sent;
  MPI_Request request = MPI_REQUEST_NULL;
  require(MPI_Irecv(&sent, sizeof sent, MPI_BYTE, c.peer, 0, pairs_.get(), &request), "MPI_Irecv");
  co_await Until{[&request] { return test_all({&request, 1}); }};
  require_pair(roster_, c, sent);
  const std::size_t nbytes = c.count * size_of(c.dtype);
  for (std::size_t done = 0; done < nbytes; done += kPairBytes) {
    require(MPI_Irecv(static_cast<std::byte*>(c.receive) + done,
                      static_cast<int>(std::min(kPairBytes, nbytes - done)), MPI_BYTE, c.peer, 0,
                      pairs_.get(), &request),
            "MPI_Irecv");
    co_await Until{[&request] { return test_all({&request, 1}); }};
  }
}

}  // namespace tessera::dist::mpi
