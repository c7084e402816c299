// Ranks as MPI processes: through shared memory inside a host, through MPI between hosts.
#pragma once

#include <memory>
#include <set>
#include <string>

#include <tessera/dist/comm/group_base.h>
#include <tessera/dist/comm/mpi/mpi_call.h>
#include <tessera/dist/comm/mpi/mpi_links.h>
#include <tessera/dist/comm/mpi/mpi_topology.h>
#include <tessera/dist/comm/shm/segment_table.h>

namespace tessera::dist::mpi {

/// What the communicators of a world share.
struct Family {
  std::shared_ptr<ProgressEngine> progress = std::make_shared<ProgressEngine>();
  std::shared_ptr<SegmentTable> segments = std::make_shared<SegmentTable>();
  Links links = {};
};

class MpiCommunicator final : public GroupBase {
 public:
  /// Collective over `comm`, which it takes over. `world_rank` is this process's, `ancestors`
  /// are the numbers of the groups that this one was split from.
  static std::shared_ptr<MpiCommunicator> make(CommHandle comm, std::string name, int world_rank,
                                               Family family, std::set<int> ancestors,
                                               std::shared_ptr<Health> parent);
  ~MpiCommunicator() override;

  [[nodiscard]] std::string transport(int peer) const override;
  [[nodiscard]] std::string host(int peer) const override;
  CommBuffer allocate(std::size_t nbytes) override;
  std::shared_ptr<Communicator> split(int color, int key, std::string name) override;
  [[nodiscard]] std::shared_ptr<HeartbeatTable> heartbeat_table() override { return table_; }
  [[nodiscard]] const Topology& topology() const { return topology_; }

 private:
  struct Parts;
  explicit MpiCommunicator(Parts parts);

  CommHandle comm_;
  CommHandle local_;
  Topology topology_;
  Family family_;
  std::set<int> groups_;
  int number_;
  std::shared_ptr<HeartbeatTable> table_;
};

}  // namespace tessera::dist::mpi
