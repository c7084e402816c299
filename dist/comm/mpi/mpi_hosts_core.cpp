#include <tessera/dist/comm/mpi/mpi_hosts_core.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/validate.h>
#include <tessera/dist/reduce/tree_sum.h>

namespace tessera::dist::mpi {
namespace {

int smallest_host(const Topology& topology) {
  const auto smallest = std::ranges::min_element(topology.hosts, {}, &std::vector<int>::size);
  return static_cast<int>(smallest->size());
}

/// How MPI counts `size` bytes of each of several parts that lie `stride` bytes apart. Calls that
/// are under way keep what they need of it.
class StridedType {
 public:
  StridedType(std::size_t size, std::size_t stride) : count_(static_cast<int>(size)) {
    if (size == stride) {
      return;  // plain bytes are faster
    }
    MPI_Datatype piece = MPI_DATATYPE_NULL;
    require(MPI_Type_contiguous(count_, MPI_BYTE, &piece), "MPI_Type_contiguous");
    const int code = MPI_Type_create_resized(piece, 0, static_cast<MPI_Aint>(stride), &own_);
    MPI_Type_free(&piece);
    require(code, "MPI_Type_create_resized");
    require(MPI_Type_commit(&own_), "MPI_Type_commit");
    count_ = 1;
  }
  ~StridedType() {
    if (own_ != MPI_DATATYPE_NULL) {
      MPI_Type_free(&own_);
    }
  }
  StridedType(const StridedType&) = delete;
  StridedType& operator=(const StridedType&) = delete;

  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] MPI_Datatype type() const { return own_ == MPI_DATATYPE_NULL ? MPI_BYTE : own_; }

 private:
  int count_;
  MPI_Datatype own_ = MPI_DATATYPE_NULL;
};

std::size_t part_bytes(const Collective& c) {
  return c.count * size_of(c.dtype);
}

}  // namespace

HostsCore::HostsCore(MPI_Comm comm, ControlBlock control, Topology topology, Membership membership,
                     std::shared_ptr<const AddressSpace> addresses)
    : scatter_(CommHandle::duplicate(comm)),
      gather_(CommHandle::duplicate(comm)),
      moves_(CommHandle::duplicate(comm)),
      pairs_(CommHandle::duplicate(comm)),
      control_(control),
      topology_(std::move(topology)),
      membership_(std::move(membership)),
      addresses_(std::move(addresses)),
      default_tree_(std::make_shared<ReductionTree>(
          ReductionTree::over_ranks(static_cast<int>(topology_.host_of.size())))),
      rails_(smallest_host(topology_)) {}

Task HostsCore::start(const Collective& c) {
  if (c.kind == CollectiveKind::send) {
    return send(c);
  }
  return c.kind == CollectiveKind::receive ? receive(c) : run(c);
}

Header HostsCore::header_of(const Collective& c) const {
  Header header{signature_of(c), 1};
  if (c.kind == CollectiveKind::all_reduce && control_.members() > 1) {
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
  const auto all = std::make_shared<std::vector<Header>>(topology_.host_of.size());
  std::vector<Header>& headers = *all;
  headers[static_cast<std::size_t>(topology_.rank)] = header_of(c);
  Request request(all);
  require(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, headers.data(), sizeof(Header),
                         MPI_BYTE, moves_.get(), request.handle()),
          "MPI_Iallgather");
  co_await Until{[&] { return request.done(); }};
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
  const auto parts = std::make_shared<Room<std::byte>>(ranks * gathered.count * element);
  for (std::size_t part = 0; part < ranks; ++part) {
    for (std::size_t b = 0; b < held; ++b) {
      std::memcpy(parts->data() + (part * blocks + b) * c.count * element,
                  c.send.data() + (b * ranks + part) * c.count * element, c.count * element);
    }
  }
  const auto received = std::make_shared<Room<std::byte>>(parts->size());
  gathered.send = Operand(parts->data(), parts->size(), parts);
  gathered.receive = Operand(received->data(), received->size(), received);
  Task moving = move_bytes(gathered);
  co_await Finish(moving);
  std::vector<TreeSource> sources;
  for (const TreeLeaf& leaf : tree.leaves()) {
    const std::size_t block =
        static_cast<std::size_t>(leaf.rank) * blocks + static_cast<std::size_t>(leaf.block);
    sources.push_back({received->data() + block * c.count * element, false});
  }
  void* const sum = c.receive.data();
  tree_reduce({c.reduce, c.dtype, tree.steps(), sources, {&sum, 1}, c.count});
}

Task HostsCore::send(const Collective& c) {
  const auto mine = std::make_shared<Signature>(signature_of(c));
  Request announced(mine);
  require(
      MPI_Isend(mine.get(), sizeof *mine, MPI_BYTE, c.peer, 0, pairs_.get(), announced.handle()),
      "MPI_Isend");
  co_await Until{[&] { return announced.done(); }};
  Request request(std::make_shared<Operand>(c.send));
  const std::size_t nbytes = part_bytes(c);
  for (std::size_t done = 0; done < nbytes; done += kMoveBytes) {
    require(MPI_Isend(c.send.data() + done, static_cast<int>(std::min(kMoveBytes, nbytes - done)),
                      MPI_BYTE, c.peer, 0, pairs_.get(), request.handle()),
            "MPI_Isend");
    co_await Until{[&] { return request.done(); }};
  }
}

Task HostsCore::receive(const Collective& c) {
  const auto sent = std::make_shared<Signature>();
  Request announced(sent);
  require(
      MPI_Irecv(sent.get(), sizeof *sent, MPI_BYTE, c.peer, 0, pairs_.get(), announced.handle()),
      "MPI_Irecv");
  co_await Until{[&] { return announced.done(); }};
  require_pair(membership_, c, *sent);
  Request request(std::make_shared<Operand>(c.receive));
  const std::size_t nbytes = part_bytes(c);
  for (std::size_t done = 0; done < nbytes; done += kMoveBytes) {
    require(
        MPI_Irecv(c.receive.data() + done, static_cast<int>(std::min(kMoveBytes, nbytes - done)),
                  MPI_BYTE, c.peer, 0, pairs_.get(), request.handle()),
        "MPI_Irecv");
    co_await Until{[&] { return request.done(); }};
  }
}

// Collectives between hosts that move bytes only: MPI's own, piece by piece.

/// MPI forbids that what it sends overlaps what it receives: `sent` is a copy.
struct HostsCore::Moving {
  Collective collective;
  Room<std::byte> sent{};
};

void HostsCore::start_moving(const Moving& moving, ByteRange piece, MPI_Request* request) const {
  const Collective& c = moving.collective;
  const int size = static_cast<int>(piece.size);
  if (c.kind == CollectiveKind::broadcast) {
    void* const whole = c.peer == topology_.rank ? c.send.data() : c.receive.data();
    require(MPI_Ibcast(static_cast<std::byte*>(whole) + piece.first, size, MPI_BYTE, c.peer,
                       moves_.get(), request),
            "MPI_Ibcast");
    return;
  }
  const StridedType strided(piece.size, part_bytes(c));
  const std::byte* const from = moving.sent.data() + piece.first;
  auto* const to = c.receive.data() + piece.first;
  if (c.kind == CollectiveKind::all_gather) {
    require(MPI_Iallgather(from, size, MPI_BYTE, to, strided.count(), strided.type(), moves_.get(),
                           request),
            "MPI_Iallgather");
  } else if (c.kind == CollectiveKind::all_to_all) {
    require(MPI_Ialltoall(from, strided.count(), strided.type(), to, strided.count(),
                          strided.type(), moves_.get(), request),
            "MPI_Ialltoall");
  }
}

Task HostsCore::move_bytes(const Collective& c) {
  const std::size_t nbytes = part_bytes(c);
  const auto moving = std::make_shared<Moving>(Moving{c});
  if (c.send && c.kind != CollectiveKind::broadcast) {
    const auto ranks = static_cast<int>(topology_.host_of.size());
    const auto* const send = c.send.data();
    moving->sent.assign(send, send + send_count(c, topology_.rank, ranks) * size_of(c.dtype));
  }
  Request request(moving);
  for (std::size_t first = 0; first < nbytes; first += kMoveBytes) {
    start_moving(*moving, {first, std::min(kMoveBytes, nbytes - first)}, request.handle());
    co_await Until{[&] { return request.done(); }};
  }
  const bool root = c.kind == CollectiveKind::broadcast && c.peer == topology_.rank;
  if (root && c.receive && c.receive != c.send) {
    std::memcpy(c.receive.data(), c.send.data(), nbytes);
  }
}

}  // namespace tessera::dist::mpi
