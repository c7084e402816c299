// The seam to sockets: what processes say to each other outside MPI goes through a HostNetwork.
//
// The real one speaks TCP; the simulated one (simulated_network.h) carries bytes between the hosts
// of a test: late, in pieces and, when told so, not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <tessera/core/base/clock.h>

namespace tessera {

struct Address {
  std::string host;        ///< name or number; empty: all of this host's, for listening
  std::uint16_t port = 0;  ///< 0: any free one, for listening
};
/// The text that people write: "host:port", "[::1]:port".
[[nodiscard]] std::string to_string(const Address&);

/// Bytes in order, both ways. One thread may send while another receives. The destructor closes it.
/// All members throw IoError naming the peer, and Timeout when `deadline` comes first, after which
/// an unknown part of what was to be sent is under way.
class Connection {
 public:
  virtual ~Connection() = default;
  /// Returns when all of `bytes` are under way.
  virtual void send(std::span<const std::byte> bytes, Time deadline) = 0;
  /// Waits for some bytes; returns how many came, 0 when the peer has ended and `bytes` has room.
  [[nodiscard]] virtual std::size_t receive(std::span<std::byte> bytes, Time deadline) = 0;
  /// Sends no more: the peer sees the end behind what is under way.
  virtual void end() = 0;
  /// The other end, as people call it.
  [[nodiscard]] virtual const std::string& peer() const = 0;
};

/// Where others connect to. Closed by the destructor.
class Listener {
 public:
  virtual ~Listener() = default;
  /// Waits for the next peer. Throws Timeout when `deadline` comes first.
  [[nodiscard]] virtual std::unique_ptr<Connection> accept(Time deadline) = 0;
  /// The address that was asked for, with the port that it has.
  [[nodiscard]] virtual const Address& address() const = 0;
};

/// What Tessera asks of a network. All members throw IoError naming the address.
class HostNetwork {
 public:
  virtual ~HostNetwork() = default;
  [[nodiscard]] virtual std::unique_ptr<Listener> listen(const Address&) = 0;
  /// Tries all addresses that the name has. Throws Timeout when `deadline` comes first.
  [[nodiscard]] virtual std::unique_ptr<Connection> connect(const Address&, Time deadline) = 0;
};

/// The operating system's TCP.
[[nodiscard]] HostNetwork& real_network();

/// The calling thread's network: the real one unless a NetworkScope says otherwise. A thread that
/// works for another takes the other's along.
[[nodiscard]] HostNetwork& network();

/// Makes `network` the calling thread's until the scope ends.
class NetworkScope {
 public:
  explicit NetworkScope(HostNetwork& network);
  ~NetworkScope();
  NetworkScope(const NetworkScope&) = delete;
  NetworkScope& operator=(const NetworkScope&) = delete;

 private:
  HostNetwork* previous_;
};

/// Fills `bytes`. Throws IoError naming the peer when it ends before.
void receive_all(Connection&, std::span<std::byte> bytes, Time deadline);

}  // namespace tessera
