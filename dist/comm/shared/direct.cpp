// Collectives on buffers that every rank reaches: no copies but the ones that the result is.
#include <algorithm>

#include <tessera/dist/comm/shared/shared_group.h>

namespace tessera::dist {
namespace {

constexpr std::size_t kBreathBytes = 1 << 20;  // between breaths others may take over

}  // namespace

Task SharedGroup::run_direct(const Collective& c) {
  const Window window = window_of(c.count, [this](int rank) {
    const Reference& send = post_of(rank).send;
    return send.segment == kNothing.segment ? nullptr : addresses_->resolve(send);
  });
  const bool all_reduce = c.kind == CollectiveKind::all_reduce;
  const Part part = all_reduce ? part_of(c.count, size_, rank_) : Part{0, c.count};
  const std::size_t element = size_of(c.dtype);
  const std::size_t step = kBreathBytes / element;

  InlineVector<TreeSource, 16> sources;
  InlineVector<void*, 8> outs;
  if (all_reduce) {
    for (int rank = 0; rank < size_; ++rank) {
      outs.push_back(addresses_->resolve(post_of(rank).receive) + part.first * element);
    }
    for (const TreeLeaf& leaf : tree_of(c).leaves()) {
      const std::size_t begin = static_cast<std::size_t>(leaf.slot) * c.count + part.first;
      sources.push_back(
          {window.bases[static_cast<std::size_t>(leaf.rank)] + begin * element, false});
    }
  }
  for (std::size_t done = 0; done < part.count; done += step) {
    const std::size_t n = std::min(step, part.count - done);
    if (all_reduce) {
      tree_reduce({c.reduce,
                   c.dtype,
                   tree_of(c).steps(),
                   {sources.data(), sources.size()},
                   {outs.data(), outs.size()},
                   n});
      for (TreeSource& source : sources) {
        source.data = static_cast<const std::byte*>(source.data) + n * element;
      }
      for (void*& out : outs) {
        out = static_cast<std::byte*>(out) + n * element;
      }
    } else {
      pull(c, window, done, done, n);
    }
    if (done + n < part.count) {
      co_await Yield{};
    }
  }
  arrive();
  co_await Until{[this] { return block_.all_at(phase_); }};
}

}  // namespace tessera::dist
