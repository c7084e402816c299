#include <tessera/dist/transports.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

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

}  // namespace

std::string describe_transports(Communicator& comm) {
  const Transports transports = gather_transports(comm);
  std::map<std::string, std::vector<int>> hosts;
  for (int rank = 0; rank < comm.size(); ++rank) {
    hosts[comm.host(rank)].push_back(rank);
  }
  std::string text;
  std::set<std::string> between;
  for (const auto& [host, ranks] : hosts) {
    std::set<std::string> within;
    text += (text.empty() ? "" : "; ") + host + ":";
    for (int a : ranks) {
      text += ' ' + std::to_string(a);
      for (int b = 0; b < comm.size(); ++b) {
        if (a != b) {
          (comm.host(b) == host ? within : between).insert(transports.between(a, b));
        }
      }
    }
    text += within.empty() ? "" : " (" + listed(within) + ")";
  }
  return text + (between.empty() ? "" : "; between hosts: " + listed(between));
}

}  // namespace tessera::dist
