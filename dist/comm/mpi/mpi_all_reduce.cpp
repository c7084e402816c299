// All-reduce across hosts: how chunks follow each other.
#include <algorithm>
#include <array>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/mpi/mpi_exchange.h>
#include <tessera/dist/comm/shared/copy_in_caches.h>
#include <tessera/dist/comm/validate.h>

namespace tessera::dist::mpi {
namespace {

constexpr std::size_t kUnderWay = 3;  // chunks whose parts go out, are added and come back

}  // namespace

void HostsCore::arrive() {
  block_.flag(topology_.local_rank()).phase.store(++phase_, std::memory_order_release);
}

void HostsCore::post(const Collective& c) {
  Descriptor& post = block_.post(topology_.local_rank(), ++posted_);
  const std::size_t element = size_of(c.dtype);
  post.send = addresses_->describe(
      c.send.data(),
      send_count(c, topology_.rank, static_cast<int>(topology_.host_of.size())) * element);
  post.receive = addresses_->describe(c.receive.data(), c.count * element);
  arrive();
}

Task HostsCore::all_reduce(const Collective& c, bool reachable) {
  const ReductionTree& tree = c.tree == nullptr ? *default_tree_ : *c.tree;
  const int lane = topology_.local_rank() < lanes_ ? topology_.local_rank() : -1;
  Exchange x{c,
             tree,
             plan_for_hosts(tree, topology_.host_of, topology_.host_count()),
             topology_.host_count(),
             lanes_,
             topology_.host(),
             lane,
             {},
             {},
             0,
             {}};
  post(c);
  co_await Until{[this] { return block_.all_at(phase_); }};
  Task rest = reachable ? exchange_directly(x) : exchange_staged(x);
  co_await Finish(rest);
}

/// Buffers of this host's ranks are read and written in place. While chunk k goes out, k - 1 is
/// added and k - 2 comes back, so that links stay busy in both directions.
Task HostsCore::exchange_directly(Exchange& x) {
  const Collective& c = x.collective;
  const bool alone = block_.members() == 1;
  for (const TreeLeaf& leaf : x.tree.leaves()) {
    const bool here = topology_.host_of[static_cast<std::size_t>(leaf.rank)] == x.host;
    const int member = topology_.local_rank_of[static_cast<std::size_t>(leaf.rank)];
    const std::byte* base = !here   ? nullptr
                            : alone ? c.send.data()
                                    : addresses_->resolve(block_.post(member, posted_).send);
    x.leaves.push_back(here ? base + static_cast<std::size_t>(leaf.slot) * c.count * x.element()
                            : nullptr);
  }
  for (int member = 0; member < block_.members(); ++member) {
    x.results.push_back(alone ? c.receive.data()
                              : addresses_->resolve(block_.post(member, posted_).receive));
  }
  const std::size_t step = kPieceBytes / x.element() * static_cast<std::size_t>(x.hosts * x.lanes);
  const std::size_t chunks = x.lane < 0 ? 0 : (c.count + step - 1) / step;
  std::array<Chunk, kUnderWay> ring;
  for (std::size_t t = 0; chunks > 0 && t < chunks + 2; ++t) {
    if (t < chunks) {
      Chunk& chunk = ring[t % kUnderWay];
      chunk = {};
      chunk.first = t * step;
      chunk.count = std::min(step, c.count - chunk.first);
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
  co_await Until{[this] { return block_.all_at(phase_); }};
}

void HostsCore::stage(const Exchange& x, std::size_t first, std::size_t n) const {
  const Collective& c = x.collective;
  std::byte* slot = block_.slot(topology_.local_rank(), 0);
  for (std::size_t b = 0; b < static_cast<std::size_t>(blocks_of(c, topology_.rank)); ++b) {
    copy_in_caches(slot + b * n * x.element(), c.send.data() + (b * c.count + first) * x.element(),
                   n * x.element());
  }
}

void HostsCore::collect(const Exchange& x, std::size_t first, std::size_t n) const {
  copy_in_caches(x.collective.receive.data() + first * x.element(),
                 block_.slot(topology_.local_rank(), 1), n * x.element());
}

/// Private buffers pass through slots, one piece at a time: slot 0 of a rank holds what it gives,
/// slot 1 what it gets.
Task HostsCore::exchange_staged(Exchange& x) {
  const Collective& c = x.collective;
  const auto blocks = static_cast<std::size_t>(x.tree.max_blocks());
  const std::size_t step = kSlotBytes / (blocks * x.element());
  for (int member = 0; member < block_.members(); ++member) {
    x.results.push_back(block_.slot(member, 1));
  }
  for (std::size_t first = 0; first < c.count; first += step) {
    const std::size_t n = std::min(step, c.count - first);
    stage(x, first, n);
    arrive();
    co_await Until{[this] { return block_.all_at(phase_); }};
    if (x.lane >= 0) {
      x.origin = first;
      x.leaves.clear();
      for (const TreeLeaf& leaf : x.tree.leaves()) {
        const bool here = topology_.host_of[static_cast<std::size_t>(leaf.rank)] == x.host;
        const int member = topology_.local_rank_of[static_cast<std::size_t>(leaf.rank)];
        x.leaves.push_back(here ? block_.slot(member, 0) +
                                      static_cast<std::size_t>(leaf.slot) * n * x.element()
                                : nullptr);
      }
      Chunk chunk;
      chunk.first = first;
      chunk.count = n;
      begin(x, chunk);
      co_await Until{[&] { return x.turns.received(chunk.scattered); }};
      combine(x, chunk);
      co_await Until{[&] { return x.turns.received(chunk.gathered); }};
      deliver(x, chunk);
      co_await Until{[&] { return x.turns.finished(chunk.gathered); }};
    }
    arrive();
    co_await Until{[this] { return block_.all_at(phase_); }};
    collect(x, first, n);
  }
}

}  // namespace tessera::dist::mpi
