// Hosts of a test that talk to each other in memory: bytes arrive late and in pieces, links fail
// and hosts die when told so.
//
// Delays are of `clock()`, so that under a SimulatedClock hours take no time. What is drawn for a
// connection depends on the seed and on how many were made before it, not on threads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <tessera/core/base/network.h>

namespace tessera {

/// How long bytes and connections take to arrive: drawn evenly between the two.
struct Delays {
  Duration least{0};
  Duration most{0};
};

class SimulatedWires;  // what its hosts share

/// Thread-safe. Its hosts, listeners and connections may outlive it.
class SimulatedNetwork {
 public:
  explicit SimulatedNetwork(std::uint64_t seed, Delays delays = {});
  ~SimulatedNetwork();

  /// The network as the host `name` sees it, made by the first call.
  [[nodiscard]] std::shared_ptr<HostNetwork> host(const std::string& name);
  /// Nothing passes between two hosts until they are joined: connecting waits, bytes wait.
  void cut(const std::string& a, const std::string& b);
  void join(const std::string& a, const std::string& b);
  /// What runs on a host is gone: nobody listens there, and the peers of its connections get
  /// IoError. What is called there afterwards belongs to a new process.
  void kill(const std::string& name);

 private:
  std::shared_ptr<SimulatedWires> wires_;
};

}  // namespace tessera
