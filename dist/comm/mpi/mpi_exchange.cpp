// The steps of one chunk: partial sums out, sums of the owned part, finished parts back.
#include <tessera/dist/comm/mpi/mpi_exchange.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/shared/copy_in_caches.h>
#include <tessera/dist/comm/validate.h>

namespace tessera::dist::mpi {
namespace {

constexpr std::size_t kUnderWay = 3;  // chunks whose parts go out, are added and come back

constexpr int kTag = 1;  // messages of a pair are matched in order

int bytes(std::size_t n) {
  return static_cast<int>(n);
}  // pieces are a few MiB at most

}  // namespace

/// The rank of a host that this one exchanges parts with.
int HostsCore::peer(const Exchange& x, int host) const {
  return topology_.hosts[static_cast<std::size_t>(host)][static_cast<std::size_t>(x.rail)];
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
  std::byte* out = chunk.out->data();
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
                              std::vector<Request>& scatter) const {
  const std::size_t n = x.part(chunk, x.host).count;
  for (int turn = 0; turn < x.hosts - 1; ++turn) {
    const int from = x.sender(turn);
    std::size_t in = 0;
    for (int host = 0; host < from; ++host) {
      in += n * x.root_count(host) * x.wire_element(host);
    }
    require(MPI_Irecv(chunk.in->data() + in, bytes(n * x.root_count(from) * x.wire_element(from)),
                      MPI_BYTE, peer(x, from), kTag, scatter_.get(),
                      scatter.emplace_back(chunk.in).handle()),
            "MPI_Irecv");
    require(MPI_Irecv(chunk.sums->data() + begin_of(x, chunk, from) * x.element(),
                      bytes(x.part(chunk, from).count * x.element()), MPI_BYTE, peer(x, from), kTag,
                      gather_.get(), chunk.gather_receives.emplace_back(chunk.sums).handle()),
            "MPI_Irecv");
  }
}

void HostsCore::begin(Exchange& x, Chunk& chunk) const {
  const std::size_t out_element = x.root_count(x.host) * x.wire_element(x.host);
  std::size_t in_bytes = 0;
  for (int host = 0; host < x.hosts; ++host) {
    in_bytes += x.part(chunk, x.host).count * x.root_count(host) * x.wire_element(host);
  }
  chunk.out = std::make_shared<Room<std::byte>>(begin_of(x, chunk, x.hosts) * out_element);
  chunk.in = std::make_shared<Room<std::byte>>(in_bytes);
  chunk.sums = std::make_shared<Room<std::byte>>(chunk.count * x.element());
  std::vector<Request> receives;
  receive_parts(x, chunk, receives);
  pack_roots(x, chunk);
  for (int turn = 0; turn < x.hosts - 1; ++turn) {
    const int to = x.receiver(turn);
    x.turns.add({.memory = chunk.out,
                 .data = chunk.out->data() + begin_of(x, chunk, to) * out_element,
                 .nbytes = x.part(chunk, to).count * out_element,
                 .peer = peer(x, to),
                 .tag = kTag,
                 .comm = scatter_.get()},
                std::move(receives[static_cast<std::size_t>(turn)]));
  }
  chunk.scattered = x.turns.count();
}

/// Adds all hosts' partial sums of the owned part and sends the result to the other hosts.
void HostsCore::combine(Exchange& x, Chunk& chunk) const {
  const Collective& c = x.collective;
  const std::size_t n = x.part(chunk, x.host).count;
  std::vector<TreeSource> sources;
  const std::byte* in = chunk.in->data();
  const std::size_t before = begin_of(x, chunk, x.host);
  const std::byte* own = chunk.out->data() + before * x.root_count(x.host) * x.wire_element(x.host);
  std::byte* sums = chunk.sums->data() + before * x.element();
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
    x.turns.add({.memory = chunk.sums,
                 .data = sums,
                 .nbytes = n * x.element(),
                 .peer = peer(x, x.receiver(turn)),
                 .tag = kTag,
                 .comm = gather_.get()},
                std::move(chunk.gather_receives[static_cast<std::size_t>(turn)]));
  }
  chunk.gathered = x.turns.count();
}

/// Writes the finished parts to every rank of this host.
void HostsCore::deliver(const Exchange& x, const Chunk& chunk) const {
  const std::byte* sums = chunk.sums->data();
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

// All-reduce across hosts: how chunks follow each other.

void HostsCore::arrive() {
  control_.flag(topology_.local_rank()).phase.store(++phase_, std::memory_order_release);
}

void HostsCore::post(const Collective& c) {
  Descriptor& own = control_.descriptor(topology_.local_rank(), ++posted_);
  const std::size_t element = size_of(c.dtype);
  own.send = addresses_->describe(
      c.send.data(),
      send_count(c, topology_.rank, static_cast<int>(topology_.host_of.size())) * element);
  own.receive = addresses_->describe(c.receive.data(), c.count * element);
  arrive();
}

Task HostsCore::all_reduce(const Collective& c, bool reachable) {
  const ReductionTree& tree = c.tree == nullptr ? *default_tree_ : *c.tree;
  const int rail = topology_.local_rank() < rails_ ? topology_.local_rank() : -1;
  Exchange x{c,
             tree,
             plan_for_hosts(tree, topology_.host_of, topology_.host_count()),
             topology_.host_count(),
             rails_,
             topology_.host(),
             rail};
  post(c);
  co_await Until{[this] { return control_.all_at(phase_); }};
  Task rest = reachable ? exchange_directly(x) : exchange_staged(x);
  co_await Finish(rest);
}

/// Buffers of this host's ranks are read and written in place. While chunk k goes out, k - 1 is
/// added and k - 2 comes back, so that links stay busy in both directions.
Task HostsCore::exchange_directly(Exchange& x) {
  const Collective& c = x.collective;
  const bool alone = control_.members() == 1;
  for (const TreeLeaf& leaf : x.tree.leaves()) {
    const bool here = topology_.host_of[static_cast<std::size_t>(leaf.rank)] == x.host;
    const int member = topology_.local_rank_of[static_cast<std::size_t>(leaf.rank)];
    const std::byte* base = !here ? nullptr
                            : alone
                                ? c.send.data()
                                : addresses_->resolve(control_.descriptor(member, posted_).send);
    x.leaves.push_back(here ? base + static_cast<std::size_t>(leaf.block) * c.count * x.element()
                            : nullptr);
  }
  for (int member = 0; member < control_.members(); ++member) {
    x.results.push_back(alone ? c.receive.data()
                              : addresses_->resolve(control_.descriptor(member, posted_).receive));
  }
  const std::size_t step =
      kMessageBytes / x.element() * static_cast<std::size_t>(x.hosts * x.rails);
  const std::size_t chunks = x.rail < 0 ? 0 : (c.count + step - 1) / step;
  std::array<Chunk, kUnderWay> ring;
  for (std::size_t t = 0; chunks > 0 && t < chunks + 2; ++t) {
    if (t < chunks) {
      Chunk& chunk = ring[t % kUnderWay];
      chunk = Chunk{.first = t * step, .count = std::min(step, c.count - t * step)};
      begin(x, chunk);
    }
    if (t >= 1 && t - 1 < chunks) {
      Chunk& chunk = ring[(t - 1) % kUnderWay];
      co_await Until{[&] { return x.turns.received(chunk.scattered); }};
      combine(x, chunk);
    }
    if (t >= 2) {
      Chunk& chunk = ring[(t - 2) % kUnderWay];
      co_await Until{[&] { return x.turns.received(chunk.gathered); }};
      deliver(x, chunk);
      co_await Until{[&] { return x.turns.finished(chunk.gathered); }};
    }
  }
  arrive();
  co_await Until{[this] { return control_.all_at(phase_); }};
}

void HostsCore::stage(const Exchange& x, std::size_t first, std::size_t n) const {
  const Collective& c = x.collective;
  std::byte* staging = control_.staging(topology_.local_rank(), 0);
  for (std::size_t b = 0; b < static_cast<std::size_t>(blocks_of(c, topology_.rank)); ++b) {
    copy_in_caches(staging + b * n * x.element(),
                   c.send.data() + (b * c.count + first) * x.element(), n * x.element());
  }
}

void HostsCore::collect(const Exchange& x, std::size_t first, std::size_t n) const {
  copy_in_caches(x.collective.receive.data() + first * x.element(),
                 control_.staging(topology_.local_rank(), 1), n * x.element());
}

/// Private buffers pass through the ranks' staging memory, one piece at a time: the first of a rank
/// holds what it gives, the second what it gets.
Task HostsCore::exchange_staged(Exchange& x) {
  const Collective& c = x.collective;
  const auto blocks = static_cast<std::size_t>(x.tree.max_blocks());
  const std::size_t step = kStagingBytes / (blocks * x.element());
  check<Unsupported>(step > 0, to_string(c.kind), ": too many blocks for private buffers; got ",
                     blocks, ", expected buffers from the communicator's allocate");
  for (int member = 0; member < control_.members(); ++member) {
    x.results.push_back(control_.staging(member, 1));
  }
  for (std::size_t first = 0; first < c.count; first += step) {
    const std::size_t n = std::min(step, c.count - first);
    stage(x, first, n);
    arrive();
    co_await Until{[this] { return control_.all_at(phase_); }};
    if (x.rail >= 0) {
      x.origin = first;
      x.leaves.clear();
      for (const TreeLeaf& leaf : x.tree.leaves()) {
        const bool here = topology_.host_of[static_cast<std::size_t>(leaf.rank)] == x.host;
        const int member = topology_.local_rank_of[static_cast<std::size_t>(leaf.rank)];
        x.leaves.push_back(here ? control_.staging(member, 0) +
                                      static_cast<std::size_t>(leaf.block) * n * x.element()
                                : nullptr);
      }
      Chunk chunk{.first = first, .count = n};
      begin(x, chunk);
      co_await Until{[&] { return x.turns.received(chunk.scattered); }};
      combine(x, chunk);
      co_await Until{[&] { return x.turns.received(chunk.gathered); }};
      deliver(x, chunk);
      co_await Until{[&] { return x.turns.finished(chunk.gathered); }};
    }
    arrive();
    co_await Until{[this] { return control_.all_at(phase_); }};
    collect(x, first, n);
  }
}

}  // namespace tessera::dist::mpi
