// Send and receive: a ring of two pieces for each ordered pair of ranks. Pieces that fit into the
// ring are sent without waiting for the receiver.
#include <algorithm>

#include <tessera/core/base/error.h>
#include <tessera/dist/comm/shared/copy_in_caches.h>
#include <tessera/dist/comm/shared/shared_group.h>

namespace tessera::dist {
namespace {

std::size_t pieces_of(std::size_t nbytes) {
  return std::max<std::size_t>(1, (nbytes + kMailBytes - 1) / kMailBytes);
}

std::size_t piece_bytes(std::size_t nbytes, std::size_t piece) {
  return std::min(kMailBytes, nbytes - std::min(nbytes, piece * kMailBytes));
}

}  // namespace

Task SharedGroup::send(const Collective& c) {
  Mailbox& box = block_.mailbox(rank_, c.peer);
  const std::size_t nbytes = c.count * size_of(c.dtype);
  for (std::size_t piece = 0; piece < pieces_of(nbytes); ++piece) {
    const std::uint64_t number = box.written.load(std::memory_order_relaxed);
    co_await Until{
        [&box, number] { return number - box.taken.load(std::memory_order_acquire) < kMailSlots; }};
    box.signature[number % kMailSlots] = signature_of(c);
    if (const std::size_t n = piece_bytes(nbytes, piece); n > 0) {
      copy_in_caches(box.data[number % kMailSlots], c.send.data() + piece * kMailBytes, n);
    }
    box.written.store(number + 1, std::memory_order_release);
  }
}

Task SharedGroup::receive(const Collective& c) {
  Mailbox& box = block_.mailbox(c.peer, rank_);
  const std::size_t nbytes = c.count * size_of(c.dtype);
  for (std::size_t piece = 0; piece < pieces_of(nbytes); ++piece) {
    const std::uint64_t number = box.taken.load(std::memory_order_relaxed);
    co_await Until{[&box, number] { return box.written.load(std::memory_order_acquire) > number; }};
    const Signature& sent = box.signature[number % kMailSlots];
    require_pair(membership_, c, sent);
    if (const std::size_t n = piece_bytes(nbytes, piece); n > 0) {
      copy_in_caches(c.receive.data() + piece * kMailBytes, box.data[number % kMailSlots], n);
    }
    box.taken.store(number + 1, std::memory_order_release);
  }
}

}  // namespace tessera::dist
