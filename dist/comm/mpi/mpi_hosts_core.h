// Collectives of a group that spans several hosts.
//
// All-reduce: the ranks of a host read each other's buffers, add what the tree lets them add alone,
// and exchange those partial sums in parts; every part has one owner among the hosts, which adds
// what they have of it in tree order and sends the sum back, and each host writes it to all of its
// ranks. So a link carries what a ring would, and the bits are those of the tree. The other
// collectives move bytes only and are MPI's own.
#pragma once

#include <memory>
#include <vector>

#include <tessera/dist/comm/counted.h>
#include <tessera/dist/comm/group_base.h>
#include <tessera/dist/comm/mpi/mpi_call.h>
#include <tessera/dist/comm/mpi/mpi_host_plan.h>
#include <tessera/dist/comm/mpi/mpi_topology.h>
#include <tessera/dist/comm/shared/address_space.h>

namespace tessera::dist::mpi {

/// Sent ahead of every collective by every rank.
struct Header {
  Signature signature;
  std::uint8_t reachable = 0;  ///< 1: the ranks of its host reach this rank's buffers
};

/// Memory that requests of MPI's use.
using SharedRoom = std::shared_ptr<Room<std::byte>>;

/// A range of elements under way: what of its parts this rank sends, receives and adds.
struct Chunk {
  std::size_t first = 0;  ///< element of the collective
  std::size_t count = 0;
  SharedRoom out{};                        ///< this host's partial sums, for each owner
  SharedRoom in{};                         ///< other hosts' partial sums of the part owned here
  SharedRoom sums{};                       ///< finished parts, of every owner
  std::vector<Request> gather_receives{};  ///< by turn
  std::size_t scattered = 0;               ///< turns after which `in` is here
  std::size_t gathered = 0;                ///< turns after which `sums` is here
};

/// Bytes that MPI is asked to move at once: it counts them in an int.
inline constexpr std::size_t kMoveBytes = std::size_t{4} << 20;

/// A range of bytes in every part.
struct ByteRange {
  std::size_t first = 0;
  std::size_t size = 0;
};

class HostsCore final : public GroupCore {
 public:
  [[nodiscard]] Addresses addresses() const noexcept override { return Addresses::copied; }
  HostsCore(MPI_Comm comm, ControlBlock control, Topology topology, Membership membership,
            std::shared_ptr<const AddressSpace> addresses);

  Task start(const Collective&) override;
  /// True of barriers, which end well here only if all have come already: what ranks of other hosts
  /// have seen, and see next, it cannot know without waiting for them.
  bool must_end_well(const Collective& c) override { return c.kind == CollectiveKind::barrier; }

 private:
  struct Exchange;  ///< one all-reduce under way
  struct Moving;    ///< a collective under way that moves bytes only

  Task run(const Collective&);
  Task move_bytes(const Collective&);
  Task reduce_scatter(const Collective&);
  Task all_reduce(const Collective&, bool reachable);
  Task exchange_directly(Exchange&);
  Task exchange_staged(Exchange&);
  Task send(const Collective&);
  Task receive(const Collective&);

  [[nodiscard]] Header header_of(const Collective&) const;
  void require_agreement(const std::vector<Header>&) const;
  void start_moving(const Moving&, ByteRange piece, MPI_Request* request) const;

  void post(const Collective&);
  void arrive();
  [[nodiscard]] int peer(const Exchange&, int host) const;
  [[nodiscard]] static std::size_t begin_of(const Exchange&, const Chunk&, int owner);
  void begin(Exchange&, Chunk&) const;
  void receive_parts(const Exchange&, Chunk&, std::vector<Request>& scatter) const;
  void pack_roots(const Exchange&, Chunk&) const;
  void combine(Exchange&, Chunk&) const;
  void deliver(const Exchange&, const Chunk&) const;
  void stage(const Exchange&, std::size_t first, std::size_t n) const;
  void collect(const Exchange&, std::size_t first, std::size_t n) const;

  CommHandle scatter_;  ///< partial sums
  CommHandle gather_;   ///< finished sums
  CommHandle moves_;    ///< MPI's own collectives
  CommHandle pairs_;    ///< send and receive
  ControlBlock control_;
  Topology topology_;
  Membership membership_;
  std::shared_ptr<const AddressSpace> addresses_;
  std::shared_ptr<const ReductionTree> default_tree_;
  int rails_;  ///< ranks of each host that talk to other hosts
  std::uint64_t phase_ = 0;
  std::uint64_t posted_ = 0;
};

}  // namespace tessera::dist::mpi
