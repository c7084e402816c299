// Collectives on private buffers: pieces pass through staging buffers in shared memory, two a rank,
// with one rendezvous of the ranks a piece.
#include <tessera/dist/comm/shared/shared_group.h>

#include <algorithm>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/shared/copy_in_caches.h>
#include <tessera/dist/comm/validate.h>

namespace tessera::dist {
namespace {

/// Parts of `count` elements that one block of this rank's contribution consists of.
std::size_t parts_of(const Collective& c, int size) {
  const bool one_each =
      c.kind == CollectiveKind::reduce_scatter || c.kind == CollectiveKind::all_to_all;
  return one_each ? static_cast<std::size_t>(size) : 1;
}

/// Elements of a part that fit into a staging buffer beside those of the other parts and blocks.
std::size_t stride_of(const Collective& c, const ReductionTree& tree, int size) {
  const int blocks = is_reduction(c.kind) ? tree.max_blocks() : 1;
  const std::size_t pieces = parts_of(c, size) * static_cast<std::size_t>(blocks);
  const std::size_t fitting = kStagingBytes / (pieces * size_of(c.dtype));
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

SharedGroup::Staged SharedGroup::first_staged(const Collective& c) const {
  const std::size_t stride = stride_of(c, tree_of(c), size_);
  return {0, stride, 0, std::min(stride, c.count)};
}

void SharedGroup::stage(const Collective& c, const Staged& piece) const {
  const std::size_t element = size_of(c.dtype);
  const std::size_t parts = send_count(c, rank_, size_) / c.count;
  const auto* send = c.send.data();
  std::byte* staging = control_.staging(rank_, piece.number);
  for (std::size_t p = 0; p < parts; ++p) {
    copy_in_caches(staging + p * piece.stride * element,
                   send + (p * c.count + piece.first) * element, piece.count * element);
  }
}

/// A rank pulls piece k after everybody staged it and stages k + 1 after that, so when all have
/// staged k + 1 all have pulled k, and its staging buffers are free for k + 2.
Task SharedGroup::run_staged_pull(const Collective& c) {
  Staged piece = first_staged(c);
  stage(c, piece);
  arrive();
  for (; piece.first < c.count; piece = piece.next(c.count)) {
    co_await Until{[this] { return control_.all_at(phase_); }};
    const auto staging_of = [&](int rank) { return control_.staging(rank, piece.number); };
    pull(c, window_of(piece.stride, staging_of), 0, piece.first, piece.count);
    if (const Staged next = piece.next(c.count); next.count > 0) {
      stage(c, next);
      arrive();
    }
  }
  // Staging buffers are written again only after the next collective's descriptors, which all ranks
  // wait for.
}

void SharedGroup::stage_for_others(const Collective& c, const Staged& piece) const {
  const std::size_t element = size_of(c.dtype);
  const Part own = staged_part(piece.stride, piece.count, size_, rank_);
  const auto* send = c.send.data();
  std::byte* staging = control_.staging(rank_, piece.number);
  for (std::size_t b = 0; b < static_cast<std::size_t>(blocks_of(c, rank_)); ++b) {
    std::byte* out = staging + b * piece.stride * element;
    const std::byte* from = send + (b * c.count + piece.first) * element;
    const std::size_t after = own.first + own.count;
    copy_in_caches(out, from, own.first * element);
    copy_in_caches(out + after * element, from + after * element, (piece.count - after) * element);
  }
}

/// Sums this rank's part of a piece into its result and into all others' staging buffers, at the
/// very place that it read from them: those cache lines are here already, and they return to their
/// owner when it collects. A staging buffer that peers only read would be dear to write again.
void SharedGroup::reduce_staged_part(const Collective& c, const Staged& piece) const {
  const std::size_t element = size_of(c.dtype);
  const Part own = staged_part(piece.stride, piece.count, size_, rank_);
  if (own.count == 0) {
    return;
  }
  InlineVector<TreeSource, 16> sources;
  for (const TreeLeaf& leaf : tree_of(c).leaves()) {
    const auto block = static_cast<std::size_t>(leaf.block);
    const std::byte* data =
        leaf.rank == rank_
            ? c.send.data() + (block * c.count + piece.first) * element
            : control_.staging(leaf.rank, piece.number) + block * piece.stride * element;
    sources.push_back({data + own.first * element, false});
  }
  InlineVector<void*, 8> outs;
  outs.push_back(c.receive.data() + (piece.first + own.first) * element);
  for (int rank = 0; rank < size_; ++rank) {
    if (rank != rank_) {
      outs.push_back(control_.staging(rank, piece.number) + own.first * element);
    }
  }
  tree_reduce({c.reduce,
               c.dtype,
               tree_of(c).steps(),
               {sources.data(), sources.size()},
               {outs.data(), outs.size()},
               own.count});
}

void SharedGroup::collect_staged(const Collective& c, const Staged& piece) const {
  const std::size_t element = size_of(c.dtype);
  const Part own = staged_part(piece.stride, piece.count, size_, rank_);
  const std::size_t after = own.first + own.count;
  auto* receive = c.receive.data() + piece.first * element;
  const std::byte* sums = control_.staging(rank_, piece.number);
  copy_in_caches(receive, sums, own.first * element);
  copy_in_caches(receive + after * element, sums + after * element,
                 (piece.count - after) * element);
}

/// One rendezvous a piece says both "my sums of piece k are in your staging buffers" and "piece
/// k + 1 is in mine".
Task SharedGroup::run_staged_all_reduce(const Collective& c) {
  Staged piece = first_staged(c);
  stage_for_others(c, piece);
  arrive();
  co_await Until{[this] { return control_.all_at(phase_); }};
  for (; piece.first < c.count; piece = piece.next(c.count)) {
    if (const Staged next = piece.next(c.count); next.count > 0) {
      stage_for_others(c, next);
    }
    reduce_staged_part(c, piece);
    arrive();
    co_await Until{[this] { return control_.all_at(phase_); }};
    collect_staged(c, piece);
  }
}

// Send and receive: a ring of two pieces for each ordered pair of ranks. Pieces that fit into the
// ring are sent without waiting for the receiver.

namespace {

std::size_t pieces_of(std::size_t nbytes) {
  return std::max<std::size_t>(1, (nbytes + kMailBytes - 1) / kMailBytes);
}

std::size_t piece_bytes(std::size_t nbytes, std::size_t piece) {
  return std::min(kMailBytes, nbytes - std::min(nbytes, piece * kMailBytes));
}

}  // namespace

Task SharedGroup::send(const Collective& c) {
  Mailbox& box = control_.mailbox(rank_, c.peer);
  const std::size_t nbytes = c.count * size_of(c.dtype);
  for (std::size_t piece = 0; piece < pieces_of(nbytes); ++piece) {
    const std::uint64_t number = box.written.load(std::memory_order_relaxed);
    co_await Until{[&box, number] {
      return number - box.taken.load(std::memory_order_acquire) < kMailPieces;
    }};
    box.signature[number % kMailPieces] = signature_of(c);
    if (const std::size_t n = piece_bytes(nbytes, piece); n > 0) {
      copy_in_caches(box.data[number % kMailPieces], c.send.data() + piece * kMailBytes, n);
    }
    box.written.store(number + 1, std::memory_order_release);
  }
}

Task SharedGroup::receive(const Collective& c) {
  Mailbox& box = control_.mailbox(c.peer, rank_);
  const std::size_t nbytes = c.count * size_of(c.dtype);
  for (std::size_t piece = 0; piece < pieces_of(nbytes); ++piece) {
    const std::uint64_t number = box.taken.load(std::memory_order_relaxed);
    co_await Until{[&box, number] { return box.written.load(std::memory_order_acquire) > number; }};
    const Signature& sent = box.signature[number % kMailPieces];
    require_pair(membership_, c, sent);
    if (const std::size_t n = piece_bytes(nbytes, piece); n > 0) {
      copy_in_caches(c.receive.data() + piece * kMailBytes, box.data[number % kMailPieces], n);
    }
    box.taken.store(number + 1, std::memory_order_release);
  }
}

}  // namespace tessera::dist
