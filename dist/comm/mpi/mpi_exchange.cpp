// The steps of one flight: partial sums out, sums of the owned part, finished parts back.
#include <tessera/dist/comm/mpi/mpi_exchange.h>

#include <algorithm>
#include <cstring>

#include <tessera/core/base/error.h>

namespace tessera::dist::mpi {
namespace {

constexpr int kTag = 1;  // messages of a pair are matched in order

int bytes(std::size_t n) {
  return static_cast<int>(n);
}  // pieces are a few MiB at most

}  // namespace

/// The element of the packed parts of a flight at which the part of `owner` begins.
std::size_t HostsCore::begin_of(const Exchange& x, const Flight& flight, int owner) {
  std::size_t begin = 0;
  for (int host = 0; host < owner; ++host) {
    begin += x.part(flight, host).count;
  }
  return begin;
}

/// Adds what this host can add alone, for every owner's part.
void HostsCore::pack_roots(const Exchange& x, Flight& flight) const {
  const Collective& c = x.collective;
  const bool partial = x.plan.is_partial(x.host);
  std::byte* out = flight.out.data();
  for (int owner = 0; owner < x.hosts; ++owner) {
    const Part part = x.part(flight, owner);
    const std::size_t offset = (flight.first - x.origin + part.first) * x.element();
    for (const HostRoot& root : x.plan.roots[static_cast<std::size_t>(x.host)]) {
      std::vector<TreeSource> sources;
      for (const std::byte* leaf : x.leaves) {
        sources.push_back({leaf == nullptr ? nullptr : leaf + offset, false});
      }
      if (root.steps.empty()) {  // without steps the sum is source 0
        sources = {sources[static_cast<std::size_t>(root.leaf)]};
      }
      void* destination = out;
      tree_reduce(c.reduce, c.dtype, root.steps, sources, {&destination, 1}, part.count, partial);
      out += part.count * x.wire_element(x.host);
    }
  }
}

void HostsCore::begin(Exchange& x, Flight& flight) const {
  std::size_t out_bytes = 0;
  std::size_t in_bytes = 0;
  for (int host = 0; host < x.hosts; ++host) {
    out_bytes += x.part(flight, host).count * x.root_count(x.host) * x.wire_element(x.host);
    in_bytes += x.part(flight, x.host).count * x.root_count(host) * x.wire_element(host);
  }
  flight.out.resize(out_bytes);
  flight.in.resize(in_bytes);
  flight.sums.resize(flight.count * x.element());
  const auto peer = [&](int host) {
    return topology_.hosts[static_cast<std::size_t>(host)][static_cast<std::size_t>(x.lane)];
  };
  std::byte* in = flight.in.data();
  std::byte* sums = flight.sums.data();
  for (int host = 0; host < x.hosts; ++host) {
    const std::size_t n = x.part(flight, x.host).count * x.root_count(host) * x.wire_element(host);
    const std::size_t sum_bytes = x.part(flight, host).count * x.element();
    if (host != x.host) {
      require(MPI_Irecv(in, bytes(n), MPI_BYTE, peer(host), kTag, scatter_.get(),
                        &flight.scatter_receives.emplace_back()),
              "MPI_Irecv");
      require(MPI_Irecv(sums, bytes(sum_bytes), MPI_BYTE, peer(host), kTag, gather_.get(),
                        &flight.gather_receives.emplace_back()),
              "MPI_Irecv");
    }
    in += n;
    sums += sum_bytes;
  }
  pack_roots(x, flight);
  for (const int host : x.others()) {
    const std::size_t element = x.root_count(x.host) * x.wire_element(x.host);
    const Part part = x.part(flight, host);
    require(MPI_Isend(flight.out.data() + begin_of(x, flight, host) * element,
                      bytes(part.count * element), MPI_BYTE, peer(host), kTag, scatter_.get(),
                      &flight.sends.emplace_back()),
            "MPI_Isend");
  }
}

/// Adds all hosts' partial sums of the owned part and sends the result to the other hosts.
void HostsCore::combine(const Exchange& x, Flight& flight) const {
  const Collective& c = x.collective;
  const std::size_t n = x.part(flight, x.host).count;
  std::vector<TreeSource> sources;
  const std::byte* in = flight.in.data();
  const std::size_t before = begin_of(x, flight, x.host);
  const std::byte* own = flight.out.data() + before * x.root_count(x.host) * x.wire_element(x.host);
  std::byte* sums = flight.sums.data() + before * x.element();
  for (int host = 0; host < x.hosts; ++host) {
    const bool partial = x.plan.is_partial(host);
    const std::byte* roots = host == x.host ? own : in;
    for (std::size_t root = 0; root < x.root_count(host); ++root) {
      sources.push_back({roots + root * n * x.wire_element(host), partial});
    }
    in += x.root_count(host) * n * x.wire_element(host);
  }
  void* destination = sums;
  tree_reduce(c.reduce, c.dtype, x.plan.steps, sources, {&destination, 1}, n);
  for (const int host : x.others()) {
    const int peer =
        topology_.hosts[static_cast<std::size_t>(host)][static_cast<std::size_t>(x.lane)];
    require(MPI_Isend(sums, bytes(n * x.element()), MPI_BYTE, peer, kTag, gather_.get(),
                      &flight.sends.emplace_back()),
            "MPI_Isend");
  }
}

/// Writes the finished parts to every rank of this host.
void HostsCore::deliver(const Exchange& x, const Flight& flight) const {
  const std::byte* sums = flight.sums.data();
  for (int owner = 0; owner < x.hosts; ++owner) {
    const Part part = x.part(flight, owner);
    const std::size_t offset = (flight.first - x.origin + part.first) * x.element();
    for (std::byte* result : x.results) {
      if (part.count > 0) {
        std::memcpy(result + offset, sums, part.count * x.element());
      }
    }
    sums += part.count * x.element();
  }
}

}  // namespace tessera::dist::mpi
