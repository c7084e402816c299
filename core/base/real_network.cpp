// Sockets by the operating system's calls. They do not block: deadlines are kept by poll.
#include <tessera/core/base/network.h>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <climits>
#include <utility>
#include <vector>

#include <tessera/core/base/system_call.h>

namespace tessera {
namespace {

using posix::Descriptor;
using posix::retry;

int milliseconds_until(Time deadline) {
  if (deadline == Time::max()) {
    return -1;
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock().now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, INT_MAX));
}

/// Returns when the socket is ready for `events`, or has failed, which the next call says.
void wait_for(const Descriptor& socket, short events, Time deadline, const char* op,
              const std::string& peer) {
  pollfd entry{.fd = socket.get(), .events = events, .revents = 0};
  int ready = 0;
  while (ready == 0) {
    ready = retry([&] { return ::poll(&entry, 1, milliseconds_until(deadline)); });
    posix::require(ready >= 0, op, peer);
    check<Timeout>(ready > 0 || clock().now() < deadline, op, ": '", peer,
                   "': no answer before the deadline");
  }
}

bool would_block() {
  return errno == EAGAIN || errno == EWOULDBLOCK;
}

class RealConnection final : public Connection {
 public:
  RealConnection(Descriptor socket, std::string peer)
      : socket_(std::move(socket)), peer_(std::move(peer)) {
    const int on = 1;  // what is sent is waited for: do not gather small messages
    ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }

  void send(std::span<const std::byte> bytes, Time deadline) override {
    while (!bytes.empty()) {
      const ssize_t sent =
          retry([&] { return ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL); });
      if (sent < 0) {
        posix::require(would_block(), "send", peer_);
        wait_for(socket_, POLLOUT, deadline, "send", peer_);
      } else {
        bytes = bytes.subspan(static_cast<std::size_t>(sent));
      }
    }
  }

  std::size_t receive(std::span<std::byte> bytes, Time deadline) override {
    while (true) {
      const ssize_t got =
          retry([&] { return ::recv(socket_.get(), bytes.data(), bytes.size(), 0); });
      if (got >= 0) {
        return static_cast<std::size_t>(got);
      }
      posix::require(would_block(), "receive", peer_);
      wait_for(socket_, POLLIN, deadline, "receive", peer_);
    }
  }

  void end() override { posix::require(::shutdown(socket_.get(), SHUT_WR) == 0, "end", peer_); }

  [[nodiscard]] const std::string& peer() const override { return peer_; }

 private:
  Descriptor socket_;
  std::string peer_;
};

/// Numbers of the other end.
std::string numbers_of(const sockaddr_storage& address, socklen_t size) {
  char host[NI_MAXHOST], port[NI_MAXSERV];
  const int failed = ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host,
                                   sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
  return failed != 0 ? "a peer" : std::string(host) + " port " + port;
}

class RealListener final : public Listener {
 public:
  RealListener(Descriptor socket, Address address)
      : socket_(std::move(socket)), address_(std::move(address)), text_(to_string(address_)) {}

  std::unique_ptr<Connection> accept(Time deadline) override {
    while (true) {
      sockaddr_storage from{};
      socklen_t size = sizeof from;
      Descriptor peer(retry([&] {
        return ::accept4(socket_.get(), reinterpret_cast<sockaddr*>(&from), &size,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);
      }));
      if (peer.valid()) {
        return std::make_unique<RealConnection>(std::move(peer), numbers_of(from, size));
      }
      posix::require(would_block() || errno == ECONNABORTED, "accept", text_);
      wait_for(socket_, POLLIN, deadline, "accept", text_);
    }
  }

  [[nodiscard]] const Address& address() const override { return address_; }

 private:
  Descriptor socket_;
  Address address_;
  std::string text_;
};

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses resolve(const char* op, const Address& address, int flags) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const char* const host = address.host.empty() ? nullptr : address.host.c_str();
  const int code = ::getaddrinfo(host, std::to_string(address.port).c_str(), &wanted, &found);
  check<IoError>(code == 0, op, ": '", to_string(address), "': ", ::gai_strerror(code));
  return {found, &::freeaddrinfo};
}

Descriptor socket_for(const addrinfo& place) {
  return Descriptor(::socket(place.ai_family, place.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

/// The socket as it listens, or none and errno. One of IPv6 for all addresses serves IPv4 too.
Descriptor listening(const addrinfo& place, bool all_addresses) {
  Descriptor socket = socket_for(place);
  if (!socket.valid()) {
    return {};
  }
  const int on = 1, six_only = all_addresses ? 0 : 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (place.ai_family == AF_INET6) {
    ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &six_only, sizeof six_only);
  }
  const bool listens = ::bind(socket.get(), place.ai_addr, place.ai_addrlen) == 0 &&
                       ::listen(socket.get(), SOMAXCONN) == 0;
  return listens ? std::move(socket) : Descriptor();
}

sockaddr_storage own_address(const Descriptor& socket) {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &size);
  return own;
}

std::uint16_t port_of(const Descriptor& socket) {
  const sockaddr_storage own = own_address(socket);
  return ntohs(own.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(own).sin6_port
                                         : reinterpret_cast<const sockaddr_in&>(own).sin_port);
}

/// Whether the system gave this end the very port that nobody listens at, and so joined it to
/// itself.
bool meets_itself(const Descriptor& socket) {
  const sockaddr_storage own = own_address(socket);
  sockaddr_storage other{};
  socklen_t size = sizeof other;
  ::getpeername(socket.get(), reinterpret_cast<sockaddr*>(&other), &size);
  return numbers_of(own, size) == numbers_of(other, size);
}

/// The socket as it is connected, or none and errno.
Descriptor connected(const addrinfo& place, Time deadline, const std::string& peer) {
  Descriptor socket = socket_for(place);
  if (socket.valid() && ::connect(socket.get(), place.ai_addr, place.ai_addrlen) != 0) {
    if (errno != EINPROGRESS && errno != EINTR) {
      return {};
    }
    wait_for(socket, POLLOUT, deadline, "connect", peer);
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
      errno = error;
      return {};
    }
  }
  if (socket.valid() && meets_itself(socket)) {
    errno = ECONNREFUSED;
    return {};
  }
  return socket;
}

std::vector<const addrinfo*> in_order(const Addresses& places) {
  std::vector<const addrinfo*> order;
  for (const addrinfo* place = places.get(); place != nullptr; place = place->ai_next) {
    order.push_back(place);
  }
  return order;
}

/// The socket that `open(place, how many places are left with it)` makes of the first of the places
/// where it can; what it throws or leaves in errno counts for the last one alone.
template <class Open>
Descriptor first_of(const std::vector<const addrinfo*>& places, const char* op,
                    const Address& address, const Open& open) {
  for (std::size_t left = places.size(); left > 1; --left) {
    try {
      Descriptor socket = open(*places[places.size() - left], left);
      if (socket.valid()) {
        return socket;
      }
    } catch (const Timeout&) {  // a silent one: another may answer
    }
  }
  Descriptor socket = open(*places.back(), std::size_t{1});
  posix::require(socket.valid(), op, to_string(address));
  return socket;
}

/// The part of the time that is left which one of `left` attempts may take.
Time share_of(Time deadline, std::size_t left) {
  const Time now = clock().now();
  return left == 1 ? deadline : now + (deadline - now) / static_cast<Duration::rep>(left);
}

class RealNetwork final : public HostNetwork {
 public:
  std::unique_ptr<Listener> listen(const Address& address) override {
    const Addresses places = resolve("listen", address, AI_PASSIVE);
    const bool all = address.host.empty();
    auto order = in_order(places);
    std::ranges::stable_partition(
        order, [&](const addrinfo* place) { return all && place->ai_family == AF_INET6; });
    Descriptor socket = first_of(
        order, "listen", address,
        [&](const addrinfo& place, std::size_t /*left*/) { return listening(place, all); });
    Address own{address.host, port_of(socket)};
    return std::make_unique<RealListener>(std::move(socket), std::move(own));
  }

  std::unique_ptr<Connection> connect(const Address& address, Time deadline) override {
    const std::string peer = to_string(address);
    const Addresses places = resolve("connect", address, 0);
    Descriptor socket = first_of(in_order(places), "connect", address,
                                 [&](const addrinfo& place, std::size_t left) {
                                   return connected(place, share_of(deadline, left), peer);
                                 });
    return std::make_unique<RealConnection>(std::move(socket), peer);
  }
};

}  // namespace

HostNetwork& real_network() {
  static auto* const real = new RealNetwork;  // never destroyed: threads may outlive statics
  return *real;
}

}  // namespace tessera
