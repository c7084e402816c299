// A group of ranks that can carry out collectives: the one interface between Tessera and a
// transport.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <tessera/dist/comm/collective.h>
#include <tessera/dist/comm/work.h>

namespace tessera::dist {

class HeartbeatTable;

/// Memory from a communicator's allocator. Ranks of one host can read it directly when the backend
/// supports that, which makes collectives on it several times faster. Zero-filled, page-aligned;
/// pages take memory from their first use on.
struct CommBuffer {
  std::byte* data = nullptr;
  std::size_t nbytes = 0;
  std::shared_ptr<const void> owner;  ///< the memory lives as long as this
  /// Where each rank's memory of the same allocation lies for this process; null where it cannot be
  /// reached. May be empty.
  std::vector<std::byte*> peers{};
};

/// Ordered group of ranks.
///
/// Threading: one thread launches per communicator; `abort` may come from any thread. All ranks
/// launch the same collectives in the same order. Work is done in launch order.
///
/// Errors: after a failure the communicator is poisoned, and every later call throws the first
/// cause. Destruction never blocks on a peer that is gone.
class Communicator {
 public:
  virtual ~Communicator() = default;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// The group's name, for errors and traces: "world", "world/host0", ...
  [[nodiscard]] virtual const std::string& name() const = 0;
  /// The number by which people know `peer`: its rank in the world that the group was split from.
  [[nodiscard]] virtual int world_rank(int peer) const = 0;
  /// How bytes travel between this rank and `peer`: "self", "thread", "shm", "tcp", "mpi" (a
  /// network of MPI's that is not TCP).
  [[nodiscard]] virtual std::string transport(int peer) const = 0;
  /// Name of the host that `peer` runs on: equal for those that share memory, and for no others.
  [[nodiscard]] virtual std::string host(int peer) const = 0;

  /// Starts a collective and returns at once.
  /// Throws InvalidArgument for a malformed collective before anything is sent.
  Work launch(Collective&& c);
  Work launch(const Collective& c) { return launch(Collective(c)); }
  /// What `launch` does with a collective that can be meant in this group (dist/comm/validate.h):
  /// for a transport to carry out, and for what stands around one to pass on.
  virtual Work start(Collective&&) = 0;
  /// Collective over the group: every rank asks for the same number of bytes.
  virtual CommBuffer allocate(std::size_t nbytes) = 0;
  /// Collective over the group: ranks with equal `color` form a new group, ordered by `key`. Comes
  /// after what was launched before.
  virtual std::shared_ptr<Communicator> split(int color, int key, std::string name) = 0;
  /// Fails everything under way, here and on the peers that can be told, with `cause`.
  virtual void abort(std::exception_ptr cause) noexcept = 0;
  /// Where the group's ranks say what they are doing; null where the backend has no such place.
  virtual std::shared_ptr<HeartbeatTable> heartbeat_table() { return nullptr; }
};

}  // namespace tessera::dist
