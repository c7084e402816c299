#include <tessera/dist/comm/mpi/mpi_links.h>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace tessera::dist::mpi {
namespace {

using Address = std::array<std::uint8_t, 16>;  // IPv4 as ::ffff:a.b.c.d

Address from_v4(std::uint32_t network_order) {
  Address address{};
  address[10] = address[11] = 0xff;
  std::memcpy(&address[12], &network_order, sizeof network_order);
  return address;
}

struct Interfaces {
  std::int32_t count = 0;
  std::array<Address, 16> addresses{};
};

/// The addresses at which other hosts reach this one.
Interfaces own_interfaces() {
  Interfaces own;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) {
    return own;
  }
  for (const ifaddrs* at = list; at != nullptr && own.count < 16; at = at->ifa_next) {
    if (at->ifa_addr == nullptr || (at->ifa_flags & IFF_LOOPBACK) != 0) {
      continue;
    }
    Address& next = own.addresses[static_cast<std::size_t>(own.count)];
    if (at->ifa_addr->sa_family == AF_INET) {
      sockaddr_in v4{};
      std::memcpy(&v4, at->ifa_addr, sizeof v4);
      next = from_v4(v4.sin_addr.s_addr);
      ++own.count;
    } else if (at->ifa_addr->sa_family == AF_INET6) {
      sockaddr_in6 v6{};
      std::memcpy(&v6, at->ifa_addr, sizeof v6);
      std::memcpy(next.data(), &v6.sin6_addr, next.size());
      ++own.count;
    }
  }
  freeifaddrs(list);
  return own;
}

/// Numbers of this process's sockets, as /proc/self/net calls them.
std::set<std::string> own_sockets() {
  std::set<std::string> inodes;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const std::string target = std::filesystem::read_symlink(entry.path(), error).string();
    if (target.starts_with("socket:[")) {
      inodes.insert(target.substr(8, target.size() - 9));
    }
  }
  return inodes;
}

/// "0A0AEB0A:1F90": words of the address in this machine's byte order, then the port.
Address parse(const std::string& text) {
  const std::size_t digits = text.find(':');
  Address address{};
  for (std::size_t word = 0; word * 8 < std::min<std::size_t>(digits, 32); ++word) {
    const auto value =
        static_cast<std::uint32_t>(std::stoul(text.substr(word * 8, 8), nullptr, 16));
    if (digits == 8) {
      return from_v4(value);
    }
    std::memcpy(&address[word * 4], &value, sizeof value);
  }
  return address;
}

/// The far ends of this process's TCP connections.
std::set<Address> connected_peers() {
  const std::set<std::string> sockets = own_sockets();
  std::set<Address> peers;
  for (const char* table : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    std::ifstream file(table);
    std::string line;
    std::getline(file, line);  // the heading
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::array<std::string, 10> word;  // number, here, there, state, ..., inode
      for (std::string& w : word) {
        words >> w;
      }
      if (word[3] == "01" && sockets.contains(word[9])) {
        peers.insert(parse(word[2]));
      }
    }
  }
  return peers;
}

/// A message each way between the first ranks of all hosts, so that their connections are there.
void connect_leaders(MPI_Comm world, const Topology& topology) {
  for (const std::vector<int>& ranks : topology.hosts) {
    char out = 0;
    char in = 0;
    const int peer = ranks.front();
    if (peer != topology.rank) {
      std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
      require(MPI_Irecv(&in, 1, MPI_BYTE, peer, 0, world, &requests[0]), "MPI_Irecv");
      require(MPI_Isend(&out, 1, MPI_BYTE, peer, 0, world, &requests[1]), "MPI_Isend");
      wait(requests[0]);
      wait(requests[1]);
    }
  }
}

}  // namespace

Links links_to_hosts(MPI_Comm world, const Topology& topology) {
  const auto hosts = static_cast<std::size_t>(topology.host_count());
  const bool leads = topology.local_rank() == 0;
  if (leads && hosts > 1) {
    connect_leaders(world, topology);
  }
  const std::vector<Interfaces> interfaces = gather_values(world, own_interfaces());
  const std::set<Address> peers = connected_peers();
  std::vector<char> by_tcp(hosts, 0);
  for (std::size_t host = 0; leads && host < hosts; ++host) {
    const Interfaces& there = interfaces[static_cast<std::size_t>(topology.hosts[host].front())];
    by_tcp[host] = std::any_of(there.addresses.begin(), there.addresses.begin() + there.count,
                               [&](const Address& address) { return peers.contains(address); });
  }
  std::vector<char> all(hosts * topology.host_of.size());
  MPI_Request request = MPI_REQUEST_NULL;
  const int bytes = static_cast<int>(hosts);
  require(
      MPI_Iallgather(by_tcp.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, world, &request),
      "MPI_Iallgather");
  wait(request);
  const auto leader = static_cast<std::size_t>(topology.local_ranks().front());
  Links links;
  for (std::size_t host = 0; host < hosts; ++host) {
    const auto first = static_cast<std::size_t>(topology.hosts[host].front());
    links[topology.names[first]] = all[leader * hosts + host] != 0 ? "tcp" : "mpi";
  }
  return links;
}

}  // namespace tessera::dist::mpi
