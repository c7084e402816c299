// The steps of one chunk: partial sums out, sums of the owned part, finished parts back.
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

/// The rank of a host that this one exchanges parts with.
int HostsCore::peer(const Exchange& x, int host) const {
  return topology_.hosts[static_cast<std::size_t>(host)][static_cast<std::size_t>(x.lane)];
}

/// The element of the packed parts of a chunk at which the part of `owner` begins.
std::size_t HostsCore::begin_of(const Exchange& x, const Chunk& chunk, int owner) {
  std::size_t begin = 0;
  for (int host = 0; host < owner; ++host) {
    begin += x.part(chunk, host).count;
  }
  return begin;
}

/// Adds what this host can add alone, for every owner's part.
void HostsCore::pack_roots(const Exchange& x, Chunk& chunk) const {
  const Collective& c = x.collective;
  const bool partial = x.plan.is_partial(x.host);
  std::byte* out = chunk.out.data();
  for (int owner = 0; owner < x.hosts; ++owner) {
    const Part part = x.part(chunk, owner);
    const std::size_t offset = (chunk.first - x.origin + part.first) * x.element();
    for (const HostRoot& root : x.plan.roots[static_cast<std::size_t>(x.host)]) {
      std::vector<TreeSource> sources;
      for (const std::byte* leaf : x.leaves) {
        sources.push_back({leaf == nullptr ? nullptr : leaf + offset, false});
      }
      if (root.steps.empty()) {  // without steps the sum is source 0
        sources = {sources[static_cast<std::size_t>(root.leaf)]};
      }
      void* destination = out;
      tree_reduce({c.reduce, c.dtype, root.steps, sources, {&destination, 1}, part.count, partial});
      out += part.count * x.wire_element(x.host);
    }
  }
}

/// Starts to receive both kinds of parts, in order of turns.
void HostsCore::receive_parts(const Exchange& x, Chunk& chunk,
                              std::vector<MPI_Request>& scatter) const {
  const std::size_t n = x.part(chunk, x.host).count;
  for (int turn = 0; turn < x.hosts - 1; ++turn) {
    const int from = x.sender(turn);
    std::size_t in = 0;
    for (int host = 0; host < from; ++host) {
      in += n * x.root_count(host) * x.wire_element(host);
    }
    require(MPI_Irecv(chunk.in.data() + in, bytes(n * x.root_count(from) * x.wire_element(from)),
                      MPI_BYTE, peer(x, from), kTag, scatter_.get(), &scatter.emplace_back()),
            "MPI_Irecv");
    require(MPI_Irecv(chunk.sums.data() + begin_of(x, chunk, from) * x.element(),
                      bytes(x.part(chunk, from).count * x.element()), MPI_BYTE, peer(x, from), kTag,
                      gather_.get(), &chunk.gather_receives.emplace_back()),
            "MPI_Irecv");
  }
}

void HostsCore::begin(Exchange& x, Chunk& chunk) const {
  const std::size_t out_element = x.root_count(x.host) * x.wire_element(x.host);
  std::size_t in_bytes = 0;
  for (int host = 0; host < x.hosts; ++host) {
    in_bytes += x.part(chunk, x.host).count * x.root_count(host) * x.wire_element(host);
  }
  chunk.out.resize(begin_of(x, chunk, x.hosts) * out_element);
  chunk.in.resize(in_bytes);
  chunk.sums.resize(chunk.count * x.element());
  std::vector<MPI_Request> receives;
  receive_parts(x, chunk, receives);
  pack_roots(x, chunk);
  for (int turn = 0; turn < x.hosts - 1; ++turn) {
    const int to = x.receiver(turn);
    x.turns.add({.data = chunk.out.data() + begin_of(x, chunk, to) * out_element,
                 .nbytes = x.part(chunk, to).count * out_element,
                 .peer = peer(x, to),
                 .tag = kTag,
                 .comm = scatter_.get()},
                receives[static_cast<std::size_t>(turn)]);
  }
  chunk.scattered = x.turns.count();
}

/// Adds all hosts' partial sums of the owned part and sends the result to the other hosts.
void HostsCore::combine(Exchange& x, Chunk& chunk) const {
  const Collective& c = x.collective;
  const std::size_t n = x.part(chunk, x.host).count;
  std::vector<TreeSource> sources;
  const std::byte* in = chunk.in.data();
  const std::size_t before = begin_of(x, chunk, x.host);
  const std::byte* own = chunk.out.data() + before * x.root_count(x.host) * x.wire_element(x.host);
  std::byte* sums = chunk.sums.data() + before * x.element();
  for (int host = 0; host < x.hosts; ++host) {
    const bool partial = x.plan.is_partial(host);
    const std::byte* roots = host == x.host ? own : in;
    for (std::size_t root = 0; root < x.root_count(host); ++root) {
      sources.push_back({roots + root * n * x.wire_element(host), partial});
    }
    in += x.root_count(host) * n * x.wire_element(host);
  }
  void* destination = sums;
  tree_reduce({c.reduce, c.dtype, x.plan.steps, sources, {&destination, 1}, n});
  for (int turn = 0; turn < x.hosts - 1; ++turn) {
    x.turns.add({.data = sums,
                 .nbytes = n * x.element(),
                 .peer = peer(x, x.receiver(turn)),
                 .tag = kTag,
                 .comm = gather_.get()},
                chunk.gather_receives[static_cast<std::size_t>(turn)]);
  }
  chunk.gathered = x.turns.count();
}

/// Writes the finished parts to every rank of this host.
void HostsCore::deliver(const Exchange& x, const Chunk& chunk) const {
  const std::byte* sums = chunk.sums.data();
  for (int owner = 0; owner < x.hosts; ++owner) {
    const Part part = x.part(chunk, owner);
    const std::size_t offset = (chunk.first - x.origin + part.first) * x.element();
    for (std::byte* result : x.results) {
      if (part.count > 0) {
        std::memcpy(result + offset, sums, part.count * x.element());
      }
    }
    sums += part.count * x.element();
  }
}

}  // namespace tessera::dist::mpi
