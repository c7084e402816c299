// The heartbeat table of a group of several hosts: inside a host lines lie in shared memory, and
// the first rank of each host sends its host's lines to the others.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <tessera/dist/comm/health.h>
#include <tessera/dist/comm/heartbeat_table.h>
#include <tessera/dist/comm/mpi/mpi_call.h>
#include <tessera/dist/comm/mpi/mpi_topology.h>

namespace tessera::dist::mpi {

/// The heartbeat table of several hosts, which carries the first failure from host to host too.
class MpiHeartbeatTable final : public HeartbeatTable {
 public:
  MpiHeartbeatTable(MPI_Comm comm, const ControlBlock& control, Topology topology,
                    std::shared_ptr<const void> owner);
  void exchange() override;
  [[nodiscard]] bool carries() const override;
  [[nodiscard]] std::vector<int> carriers(int rank) const override;
  [[nodiscard]] bool speaks_first() const override { return topology_.host() == 0; }

 private:
  struct Line;
  using Packet = std::shared_ptr<std::vector<std::byte>>;
  /// What goes to one other host and comes from it. Requests go without waiting: the peer may be
  /// gone.
  struct Mail {
    explicit Mail(int rank, std::size_t nbytes)
        : peer(rank), in(std::make_shared<std::vector<std::byte>>(nbytes)) {}
    int peer;
    Packet out = std::make_shared<std::vector<std::byte>>();
    Packet in;
    bool told = false;  ///< the peer, that all ranks here have left
    Request sent{out};
    Request received{in};
  };
  [[nodiscard]] bool all_left_here() const;
  [[nodiscard]] std::vector<std::byte> pack() const;
  void unpack(const std::vector<std::byte>& packet) const;
  void listen(Mail& mail) const;
  void carry(Mail& mail) const;

  CommHandle comm_;
  Topology topology_;
  std::vector<Mail> mails_;
};

}  // namespace tessera::dist::mpi
