#include <tessera/dist/transports.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/collectives.h>

namespace tessera::dist {
namespace {

constexpr std::array kTransports{"self", "thread", "shm", "tcp", "mpi", "fake"};

/// How every pair of ranks is joined.
struct Transports {
  int size;
  std::vector<std::uint8_t> codes;
  [[nodiscard]] std::string between(int a, int b) const {
    const std::uint8_t code = codes[static_cast<std::size_t>(a) * static_cast<std::size_t>(size) +
                                    static_cast<std::size_t>(b)];
    return code < kTransports.size() ? kTransports[code] : "other";
  }
};

Transports gather_transports(Communicator& comm) {
  std::vector<std::uint8_t> row;
  for (int peer = 0; peer < comm.size(); ++peer) {
    const auto* const found = std::ranges::find(kTransports, comm.transport(peer));
    row.push_back(static_cast<std::uint8_t>(found - kTransports.begin()));
  }
  Transports all{comm.size(), std::vector<std::uint8_t>(row.size() * row.size())};
  all_gather<std::uint8_t>(comm, row, std::span(all.codes), "transports").wait();
  return all;
}

std::string listed(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

/// Pairs of hosts by what joins them; without the pairs where one transport joins all.
std::string describe_hosts(const std::map<std::string, std::set<std::string>>& pairs) {
  if (pairs.size() == 1) {
    return "; between hosts: " + pairs.begin()->first;
  }
  std::string text;
  for (const auto& [transport, hosts] : pairs) {
    text += "; " + transport + " between " + listed(hosts);
  }
  return text;
}

}  // namespace

std::string describe_transports(Communicator& comm) {
  const Transports transports = gather_transports(comm);
  std::map<std::string, std::vector<int>> hosts;
  for (int rank = 0; rank < comm.size(); ++rank) {
    hosts[comm.host(rank)].push_back(rank);
  }
  std::string text;
  std::map<std::string, std::set<std::string>> between;
  for (const auto& [host, ranks] : hosts) {
    std::set<std::string> within;
    text += (text.empty() ? "" : "; ") + host + ":";
    for (int a : ranks) {
      text += ' ' + std::to_string(a);
      for (int b = 0; b < comm.size(); ++b) {
        if (const std::string other = comm.host(b); a != b && other == host) {
          within.insert(transports.between(a, b));
        } else if (host < other) {
          between[transports.between(a, b)].insert(tessera::detail::concat(host, " and ", other));
        }
      }
    }
    text += within.empty() ? "" : " (" + listed(within) + ")";
  }
  return text + describe_hosts(between);
}

}  // namespace tessera::dist
