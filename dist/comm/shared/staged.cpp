// Collectives on private buffers: pieces pass through slots in shared memory, double-buffered, with
// one meeting of the ranks a piece.
#include <algorithm>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/shared/copy_in_caches.h>
#include <tessera/dist/comm/shared/shared_group.h>
#include <tessera/dist/comm/validate.h>

namespace tessera::dist {
namespace {

/// Parts of `count` elements that one block of this rank's contribution consists of.
std::size_t parts_of(const Collective& c, int size) {
  const bool one_each =
      c.kind == CollectiveKind::reduce_scatter || c.kind == CollectiveKind::all_to_all;
  return one_each ? static_cast<std::size_t>(size) : 1;
}

/// Elements of a part that fit into a slot beside those of the other parts and blocks.
std::size_t stride_of(const Collective& c, const ReductionTree& tree, int size) {
  const int blocks = is_reduction(c.kind) ? tree.max_blocks() : 1;
  const std::size_t pieces = parts_of(c, size) * static_cast<std::size_t>(blocks);
  const std::size_t fitting = kSlotBytes / (pieces * size_of(c.dtype));
  const std::size_t stride = fitting >= 64 ? fitting / 64 * 64 : fitting;
  check<Unsupported>(stride > 0, to_string(c.kind), ": too many parts for private buffers; got ",
                     pieces, ", expected buffers from the communicator's allocate");
  return std::min(stride, c.count);
}

/// The elements of a piece that `rank` sums: the same place in every piece, the short last one too.
Part staged_part(std::size_t stride, std::size_t n, int size, int rank) {
  const Part whole = part_of(stride, size, rank);
  const std::size_t first = std::min(whole.first, n);
  return {first, std::min(whole.first + whole.count, n) - first};
}

}  // namespace

void SharedGroup::stage(const Collective& c, std::uint64_t piece, std::size_t stride,
                        std::size_t first, std::size_t n) const {
  const std::size_t element = size_of(c.dtype);
  const std::size_t parts = send_count(c, rank_, size_) / c.count;
  const auto* send = c.send.data();
  std::byte* slot = block_.slot(rank_, piece);
  for (std::size_t p = 0; p < parts; ++p) {
    copy_in_caches(slot + p * stride * element, send + (p * c.count + first) * element,
                   n * element);
  }
}

/// A rank pulls piece k after everybody staged it and stages k + 1 after that, so when all have
/// staged k + 1 all have pulled k, and its slots are free for k + 2.
Task SharedGroup::run_staged_pull(const Collective& c) {
  const std::size_t stride = stride_of(c, tree_of(c), size_);
  std::uint64_t piece = 0;
  stage(c, piece, stride, 0, std::min(stride, c.count));
  arrive();
  for (std::size_t first = 0; first < c.count; first += stride, ++piece) {
    co_await Until{[this] { return all_at(phase_); }};
    const std::size_t n = std::min(stride, c.count - first);
    pull(c, slot_window(piece, stride), 0, first, n);
    if (first + n < c.count) {
      stage(c, piece + 1, stride, first + n, std::min(stride, c.count - first - n));
      arrive();
    }
  }
  // Slots are written again only after the next collective's posts, which all ranks wait for.
}

void SharedGroup::stage_for_others(const Collective& c, std::uint64_t piece, std::size_t stride,
                                   std::size_t first, std::size_t n) const {
  const std::size_t element = size_of(c.dtype);
  const Part own = staged_part(stride, n, size_, rank_);
  const auto* send = c.send.data();
  std::byte* slot = block_.slot(rank_, piece);
  for (std::size_t b = 0; b < static_cast<std::size_t>(blocks_of(c, rank_)); ++b) {
    std::byte* out = slot + b * stride * element;
    const std::byte* from = send + (b * c.count + first) * element;
    const std::size_t after = own.first + own.count;
    copy_in_caches(out, from, own.first * element);
    copy_in_caches(out + after * element, from + after * element, (n - after) * element);
  }
}

/// Sums this rank's part of a piece into its result and into all others' slots, at the very place
/// that it read from them: those cache lines are here already, and they return to their owner when
/// it collects. A slot that peers only read would be dear to write again.
void SharedGroup::reduce_staged_part(const Collective& c, std::uint64_t piece, std::size_t stride,
                                     std::size_t first, std::size_t n) const {
  const std::size_t element = size_of(c.dtype);
  const Part own = staged_part(stride, n, size_, rank_);
  if (own.count == 0) {
    return;
  }
  InlineVector<TreeSource, 16> sources;
  for (const TreeLeaf& leaf : tree_of(c).leaves()) {
    const auto block = static_cast<std::size_t>(leaf.slot);
    const std::byte* data = leaf.rank == rank_
                                ? c.send.data() + (block * c.count + first) * element
                                : block_.slot(leaf.rank, piece) + block * stride * element;
    sources.push_back({data + own.first * element, false});
  }
  InlineVector<void*, 8> outs;
  outs.push_back(c.receive.data() + (first + own.first) * element);
  for (int rank = 0; rank < size_; ++rank) {
    if (rank != rank_) {
      outs.push_back(block_.slot(rank, piece) + own.first * element);
    }
  }
  tree_reduce({c.reduce,
               c.dtype,
               tree_of(c).steps(),
               {sources.data(), sources.size()},
               {outs.data(), outs.size()},
               own.count});
}

void SharedGroup::collect_staged(const Collective& c, std::uint64_t piece, std::size_t stride,
                                 std::size_t first, std::size_t n) const {
  const std::size_t element = size_of(c.dtype);
  const Part own = staged_part(stride, n, size_, rank_);
  const std::size_t after = own.first + own.count;
  auto* receive = c.receive.data() + first * element;
  const std::byte* sums = block_.slot(rank_, piece);
  copy_in_caches(receive, sums, own.first * element);
  copy_in_caches(receive + after * element, sums + after * element, (n - after) * element);
}

/// One meeting a piece: it says both "my sums of piece k are in your slots" and "piece k + 1 is in
/// mine".
Task SharedGroup::run_staged_all_reduce(const Collective& c) {
  const std::size_t stride = stride_of(c, tree_of(c), size_);
  std::uint64_t piece = 0;
  stage_for_others(c, piece, stride, 0, std::min(stride, c.count));
  arrive();
  co_await Until{[this] { return all_at(phase_); }};
  for (std::size_t first = 0; first < c.count; first += stride, ++piece) {
    const std::size_t n = std::min(stride, c.count - first);
    const std::size_t next = first + n;
    if (next < c.count) {
      stage_for_others(c, piece + 1, stride, next, std::min(stride, c.count - next));
    }
    reduce_staged_part(c, piece, stride, first, n);
    arrive();
    co_await Until{[this] { return all_at(phase_); }};
    collect_staged(c, piece, stride, first, n);
  }
}

}  // namespace tessera::dist
