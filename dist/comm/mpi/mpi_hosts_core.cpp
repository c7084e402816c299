#include <tessera/dist/comm/mpi/mpi_hosts_core.h>

#include <algorithm>
#include <cstring>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/validate.h>
#include <tessera/dist/reduce/tree_sum.h>

namespace tessera::dist::mpi {
namespace {

int smallest_host(const Topology& topology) {
  const auto smallest = std::ranges::min_element(topology.hosts, {}, &std::vector<int>::size);
  return static_cast<int>(smallest->size());
}

}  // namespace

HostsCore::HostsCore(MPI_Comm comm, ControlBlock block, Topology topology, Membership membership,
                     std::shared_ptr<const AddressSpace> addresses)
    : scatter_(Group::duplicate(comm)),
      gather_(Group::duplicate(comm)),
      moves_(Group::duplicate(comm)),
      pairs_(Group::duplicate(comm)),
      block_(block),
      topology_(std::move(topology)),
      membership_(std::move(membership)),
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
    header.reachable = addresses_->describe(c.send.data(), given * element).segment != 0 &&
                       addresses_->describe(c.receive.data(), c.count * element).segment != 0;
  }
  return header;
}

void HostsCore::require_agreement(const std::vector<Header>& headers) const {
  std::vector<RankSignature> signatures;
  for (std::size_t rank = 0; rank < headers.size(); ++rank) {
    signatures.push_back({static_cast<int>(rank), &headers[rank].signature});
  }
  require_match(membership_, signatures);
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
  Room<std::byte> parts(ranks * gathered.count * element);
  for (std::size_t part = 0; part < ranks; ++part) {
    for (std::size_t b = 0; b < held; ++b) {
      std::memcpy(parts.data() + (part * blocks + b) * c.count * element,
                  c.send.data() + (b * ranks + part) * c.count * element, c.count * element);
    }
  }
  Room<std::byte> received(parts.size());
  gathered.send = Operand(parts.data(), parts.size());
  gathered.receive = Operand(received.data(), received.size());
  Task moving = move_bytes(gathered);
  co_await Finish(moving);
  std::vector<TreeSource> sources;
  for (const TreeLeaf& leaf : tree.leaves()) {
    const std::size_t block =
        static_cast<std::size_t>(leaf.rank) * blocks + static_cast<std::size_t>(leaf.slot);
    sources.push_back({received.data() + block * c.count * element, false});
  }
  void* const sum = c.receive.data();
  tree_reduce({c.reduce, c.dtype, tree.steps(), sources, {&sum, 1}, c.count});
}

Task HostsCore::send(const Collective& c) {
  const Signature mine = signature_of(c);
  MPI_Request request = MPI_REQUEST_NULL;
  require(MPI_Isend(&mine, sizeof mine, MPI_BYTE, c.peer, 0, pairs_.get(), &request), "MPI_Isend");
  co_await Until{[&request] { return test_all({&request, 1}); }};
  const std::size_t nbytes = c.count * size_of(c.dtype);
  for (std::size_t done = 0; done < nbytes; done += kMoveBytes) {
    require(MPI_Isend(c.send.data() + done, static_cast<int>(std::min(kMoveBytes, nbytes - done)),
                      MPI_BYTE, c.peer, 0, pairs_.get(), &request),
            "MPI_Isend");
    co_await Until{[&request] { return test_all({&request, 1}); }};
  }
}

Task HostsCore::receive(const Collective& c) {
  Signature sent;
  MPI_Request request = MPI_REQUEST_NULL;
  require(MPI_Irecv(&sent, sizeof sent, MPI_BYTE, c.peer, 0, pairs_.get(), &request), "MPI_Irecv");
  co_await Until{[&request] { return test_all({&request, 1}); }};
  require_pair(membership_, c, sent);
  const std::size_t nbytes = c.count * size_of(c.dtype);
  for (std::size_t done = 0; done < nbytes; done += kMoveBytes) {
    require(
        MPI_Irecv(c.receive.data() + done, static_cast<int>(std::min(kMoveBytes, nbytes - done)),
                  MPI_BYTE, c.peer, 0, pairs_.get(), &request),
        "MPI_Irecv");
    co_await Until{[&request] { return test_all({&request, 1}); }};
  }
}

}  // namespace tessera::dist::mpi
