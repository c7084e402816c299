// Collectives between hosts that move bytes only: MPI's own, piece by piece.
#include <algorithm>
#include <cstring>

#include <tessera/dist/comm/mpi/mpi_hosts_core.h>
#include <tessera/dist/comm/validate.h>

namespace tessera::dist::mpi {
namespace {

/// How MPI counts `size` bytes of each of several parts that lie `stride` bytes apart. Calls that
/// are under way keep what they need of it.
class PieceOfParts {
 public:
  PieceOfParts(std::size_t size, std::size_t stride) : count_(static_cast<int>(size)) {
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
  ~PieceOfParts() {
    if (own_ != MPI_DATATYPE_NULL) {
      MPI_Type_free(&own_);
    }
  }
  PieceOfParts(const PieceOfParts&) = delete;
  PieceOfParts& operator=(const PieceOfParts&) = delete;

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

MPI_Request HostsCore::start_moving(const Collective& c, const Room<std::byte>& sent,
                                    ByteRange piece) const {
  const int size = static_cast<int>(piece.size);
  MPI_Request request = MPI_REQUEST_NULL;
  if (c.kind == CollectiveKind::broadcast) {
    void* const whole = c.peer == topology_.rank ? c.send.data() : c.receive.data();
    require(MPI_Ibcast(static_cast<std::byte*>(whole) + piece.first, size, MPI_BYTE, c.peer,
                       moves_.get(), &request),
            "MPI_Ibcast");
    return request;
  }
  const PieceOfParts part(piece.size, part_bytes(c));
  const std::byte* const from = sent.data() + piece.first;
  auto* const to = c.receive.data() + piece.first;
  if (c.kind == CollectiveKind::all_gather) {
    require(
        MPI_Iallgather(from, size, MPI_BYTE, to, part.count(), part.type(), moves_.get(), &request),
        "MPI_Iallgather");
  } else if (c.kind == CollectiveKind::all_to_all) {
    require(MPI_Ialltoall(from, part.count(), part.type(), to, part.count(), part.type(),
                          moves_.get(), &request),
            "MPI_Ialltoall");
  }
  return request;
}

Task HostsCore::move_bytes(const Collective& c) {
  const std::size_t nbytes = part_bytes(c);
  Room<std::byte> sent;
  if (c.send.storage && c.kind != CollectiveKind::broadcast) {  // MPI forbids overlaps
    const auto ranks = static_cast<int>(topology_.host_of.size());
    const auto* const send = c.send.data();
    sent.assign(send, send + send_count(c, topology_.rank, ranks) * size_of(c.dtype));
  }
  for (std::size_t first = 0; first < nbytes; first += kMoveBytes) {
    MPI_Request request = start_moving(c, sent, {first, std::min(kMoveBytes, nbytes - first)});
    co_await Until{[&request] { return test_all({&request, 1}); }};
  }
  const bool root = c.kind == CollectiveKind::broadcast && c.peer == topology_.rank;
  if (root && c.receive.storage && c.receive != c.send) {
    std::memcpy(c.receive.data(), c.send.data(), nbytes);
  }
}

}  // namespace tessera::dist::mpi
