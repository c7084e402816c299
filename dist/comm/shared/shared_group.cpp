#include <tessera/dist/comm/shared/shared_group.h>

#include <algorithm>
#include <cstring>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/backoff.h>
#include <tessera/dist/comm/validate.h>

namespace tessera::dist {
namespace {

constexpr std::size_t kYieldBytes = 1 << 20;  // between yields others may take over

bool overlaps(const std::byte* a, std::size_t a_size, const std::byte* b, std::size_t b_size) {
  return a < b + b_size && b < a + a_size;
}

/// Whether a rank may write its result while others still read its contribution in place.
bool is_safe_in_place(const Collective& c, int rank, int size) {
  if (c.kind == CollectiveKind::all_reduce || c.kind == CollectiveKind::broadcast) {
    return true;  // all_reduce: each element has one reader and writer; broadcast: one writes
  }
  const std::size_t element = size_of(c.dtype);
  const auto* send = c.send.data();
  const auto* receive = c.receive.data();
  if (!overlaps(send, send_count(c, rank, size) * element, receive,
                receive_count(c, size) * element)) {
    return true;
  }
  const std::size_t own_part = static_cast<std::size_t>(rank) * c.count * element;
  return (c.kind == CollectiveKind::all_gather && send == receive + own_part) ||
         (c.kind == CollectiveKind::reduce_scatter && receive == send + own_part);
}

}  // namespace

Part part_of(std::size_t count, int parts, int index) {
  constexpr std::size_t kUnit = 64;  // whole cache lines for every dtype
  const std::size_t units = (count + kUnit - 1) / kUnit;
  const auto at = [&](int i) {
    return std::min(count,
                    units * static_cast<std::size_t>(i) / static_cast<std::size_t>(parts) * kUnit);
  };
  return {at(index), at(index + 1) - at(index)};
}

SharedGroup::SharedGroup(ControlBlock control, Membership membership,
                         std::shared_ptr<const AddressSpace> addresses,
                         std::shared_ptr<const void> owner)
    : owner_(std::move(owner)),
      control_(control),
      membership_(std::move(membership)),
      rank_(membership_.rank),
      size_(control.members()),
      addresses_(std::move(addresses)),
      default_tree_(std::make_shared<ReductionTree>(ReductionTree::over_ranks(size_))) {
  Backoff::expect_ranks(size_);
}

Task SharedGroup::start(const Collective& c) {
  if (is_point_to_point(c.kind)) {
    return c.kind == CollectiveKind::send ? send(c) : receive(c);
  }
  return run(c);
}

void SharedGroup::arrive() {
  control_.flag(rank_).phase.store(++phase_, std::memory_order_release);
}

/// Peers often are as far, or nearly: a look takes less time than coming back.
bool SharedGroup::all_posted() const {
  const int most = Backoff::spins() ? 20 : 0;
  for (int rank = 0, looks = 0; rank < size_; ++looks) {
    if (descriptor_of(rank).number.load(std::memory_order_acquire) == posted_) {
      ++rank;
    } else if (looks < most) {
      Backoff::relax();
    } else {
      return false;
    }
  }
  return true;
}

/// All ranks are here, and none of them has given a barrier up: from then on its failure is seen.
bool SharedGroup::may_end(const Collective& c) {
  return c.kind != CollectiveKind::barrier || control_.barrier_end().decide(posted_, true);
}

bool SharedGroup::must_end_well(const Collective& c) {
  return c.kind == CollectiveKind::barrier && control_.barrier_end().decide(posted_, false);
}

Reference SharedGroup::sharable_send(const Collective& c) const {
  const std::size_t nbytes = send_count(c, rank_, size_) * size_of(c.dtype);
  if (nbytes == 0) {
    return kNothing;
  }
  return is_safe_in_place(c, rank_, size_) ? addresses_->describe(c.send.data(), nbytes)
                                           : Reference{};
}

void SharedGroup::post(const Collective& c, bool inlined) {
  Descriptor& own = control_.descriptor(rank_, ++posted_);
  own.signature = signature_of(c);
  own.digest = own.signature.digest();
  const std::size_t nbytes = send_count(c, rank_, size_) * size_of(c.dtype);
  if (inlined) {
    if (nbytes > 0) {
      std::memcpy(own.data, c.send.data(), nbytes);
    }
  } else {
    own.send = sharable_send(c);
    const bool writes_to_all = c.kind == CollectiveKind::all_reduce;
    own.receive = writes_to_all ? addresses_->describe(c.receive.data(), c.count * size_of(c.dtype))
                                : kNothing;
  }
  own.number.store(posted_, std::memory_order_release);
}

void SharedGroup::require_agreement() const {
  const std::uint64_t own = descriptor_of(rank_).digest;
  bool equal = true;
  for (int rank = 0; rank < size_; ++rank) {
    equal = equal && own == descriptor_of(rank).digest;
  }
  if (equal) {
    return;
  }
  std::vector<RankSignature> signatures;
  for (int rank = 0; rank < size_; ++rank) {
    signatures.push_back({rank, &descriptor_of(rank).signature});
  }
  require_match(membership_, signatures);
}

bool SharedGroup::fits_inline(const Collective& c) const {
  const int blocks = is_reduction(c.kind) ? tree_of(c).max_blocks() : 1;
  const bool parts =
      c.kind == CollectiveKind::reduce_scatter || c.kind == CollectiveKind::all_to_all;
  const std::size_t pieces =
      static_cast<std::size_t>(blocks) * static_cast<std::size_t>(parts ? size_ : 1);
  return c.count <= kInlineBytes && c.count * pieces * size_of(c.dtype) <= kInlineBytes;
}

bool SharedGroup::is_direct() const {
  for (int rank = 0; rank < size_; ++rank) {
    if (descriptor_of(rank).send.segment == 0 || descriptor_of(rank).receive.segment == 0) {
      return false;
    }
  }
  return true;
}

Task SharedGroup::run(const Collective& c) {
  const bool inlined = fits_inline(c);
  post(c, inlined);
  if (!inlined) {
    co_await Yield{};  // launching returns at once; the sum is for whoever polls next
  }
  co_await Until{[&] { return all_posted() && may_end(c); }};
  // Nobody reads this rank's other descriptor any more: its cache line comes back while there is
  // other work, not when the next collective waits for it.
  control_.descriptor(rank_, posted_ + 1).digest = 0;
  require_agreement();
  if (inlined) {
    pull(c, window_of(c.count, [this](int rank) { return descriptor_of(rank).data; }), 0, 0,
         c.count);
    co_return;
  }
  const bool all_reduce = c.kind == CollectiveKind::all_reduce;
  Task rest = is_direct()  ? run_direct(c)
              : all_reduce ? run_staged_all_reduce(c)
                           : run_staged_pull(c);
  co_await Finish(rest);
}

void SharedGroup::pull(const Collective& c, const Window& window, std::size_t from, std::size_t to,
                       std::size_t n) const {
  const std::size_t element = size_of(c.dtype);
  auto* receive = c.receive.data();
  const auto copy = [&](int source, std::size_t piece, std::size_t part) {
    const std::byte* begin =
        window.bases[static_cast<std::size_t>(source)] + (piece * window.stride + from) * element;
    std::byte* out = receive + (part * c.count + to) * element;
    if (n > 0 && receive != nullptr && out != begin) {
      std::memmove(out, begin, n * element);
    }
  };
  if (is_reduction(c.kind)) {
    pull_reduced(c, window, from, receive + to * element, n);
  } else if (c.kind == CollectiveKind::broadcast) {
    copy(c.peer, 0, 0);
  } else if (c.kind != CollectiveKind::barrier) {
    const bool own_piece = c.kind == CollectiveKind::all_to_all;
    for (int source = 0; source < size_; ++source) {
      copy(source, own_piece ? static_cast<std::size_t>(rank_) : 0,
           static_cast<std::size_t>(source));
    }
  }
}

void SharedGroup::pull_reduced(const Collective& c, const Window& window, std::size_t from,
                               std::byte* out, std::size_t n) const {
  if (n == 0) {
    return;
  }
  const bool scatter = c.kind == CollectiveKind::reduce_scatter;
  const std::size_t parts = scatter ? static_cast<std::size_t>(size_) : 1;
  const std::size_t part = scatter ? static_cast<std::size_t>(rank_) : 0;
  const ReductionTree& tree = tree_of(c);
  InlineVector<TreeSource, 16> sources;
  for (const TreeLeaf& leaf : tree.leaves()) {
    const std::size_t piece = static_cast<std::size_t>(leaf.block) * parts + part;
    sources.push_back({window.bases[static_cast<std::size_t>(leaf.rank)] +
                           (piece * window.stride + from) * size_of(c.dtype),
                       false});
  }
  void* destination = out;
  tree_reduce(
      {c.reduce, c.dtype, tree.steps(), {sources.data(), sources.size()}, {&destination, 1}, n});
}

// Collectives on buffers that every rank reaches: no copies but the ones that the result is.

Task SharedGroup::run_direct(const Collective& c) {
  const Window window = window_of(c.count, [this](int rank) {
    const Reference& send = descriptor_of(rank).send;
    return send.segment == kNothing.segment ? nullptr : addresses_->resolve(send);
  });
  const bool all_reduce = c.kind == CollectiveKind::all_reduce;
  const Part part = all_reduce ? part_of(c.count, size_, rank_) : Part{0, c.count};
  const std::size_t element = size_of(c.dtype);
  const std::size_t step = kYieldBytes / element;

  InlineVector<TreeSource, 16> sources;
  InlineVector<void*, 8> outs;
  if (all_reduce) {
    for (int rank = 0; rank < size_; ++rank) {
      outs.push_back(addresses_->resolve(descriptor_of(rank).receive) + part.first * element);
    }
    for (const TreeLeaf& leaf : tree_of(c).leaves()) {
      const std::size_t begin = static_cast<std::size_t>(leaf.block) * c.count + part.first;
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
  co_await Until{[this] { return control_.all_at(phase_); }};
}

}  // namespace tessera::dist
