// The heartbeat table of a group of several hosts: inside a host lines lie in shared memory, and
// the first rank of each host sends its host's lines to the others.
#pragma once

#include <vector>

#include <tessera/dist/comm/health.h>
#include <tessera/dist/comm/heartbeat_table.h>
#include <tessera/dist/comm/mpi/mpi_call.h>
#include <tessera/dist/comm/mpi/mpi_topology.h>

namespace tessera::dist::mpi {

/// The heartbeat table of several hosts, which carries the first failure from host to host too.
class MpiHeartbeatTable final : public HeartbeatTable {
 public:
  MpiHeartbeatTable(MPI_Comm comm, const ControlBlock& block, Topology topology,
                    std::shared_ptr<const void> owner);
  ~MpiHeartbeatTable() override;
  void exchange() override;
  [[nodiscard]] std::vector<int> carriers(int rank) const override;
  [[nodiscard]] bool speaks_first() const override { return topology_.host() == 0; }

 private:
  struct Line;
  struct Mail {  ///< to and from one other host
    int peer = 0;
    std::vector<std::byte> out;
    std::vector<std::byte> in;
    MPI_Request sent = MPI_REQUEST_NULL;
    MPI_Request received = MPI_REQUEST_NULL;
  };
  [[nodiscard]] std::vector<std::byte> pack() const;
  void unpack(const std::vector<std::byte>& packet) const;
  void listen(Mail& mail) const;
  void carry(Mail& mail) const;

  Group comm_;
  Topology topology_;
  std::vector<Mail> mails_;
};

}  // namespace tessera::dist::mpi
