#include "support/guarded_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tessera::test {
namespace {

/// Blocks of like sizes take each other's place.
std::size_t rounded(std::size_t nbytes) {
  return std::max<std::size_t>((nbytes + 4095) / 4096 * 4096, 4096);
}

}  // namespace

GuardedMemory::Taken GuardedMemory::take(int index, std::size_t nbytes) {
  std::vector<Free>& free = given_back_[{index, rounded(nbytes)}];
  Taken taken;
  if (free.empty()) {
    taken.pages = map_pages(rounded(nbytes));
    std::memset(taken.pages.writable, 0xcb, taken.pages.nbytes);
  } else {
    taken = {free.back().pages, free.back().from};
    free.pop_back();
  }
  blocks_[taken.pages.closed].last_write = {taken.free_from, "the owner before"};
  return taken;
}

void GuardedMemory::give_back(const std::byte* address, int index, const Ticket& ticket) {
  const MappedPages pages = pages_at(address, 0);
  blocks_.erase(pages.closed);
  given_back_[{index, pages.nbytes}].push_back({pages, ticket});
}

void GuardedMemory::trim() {
  for (const auto& [kind, blocks] : given_back_) {
    for (const Free& block : blocks) {
      unmap_pages(block.pages);
    }
  }
  given_back_.clear();
}

GuardedMemory::Block& GuardedMemory::block_at(const std::byte* address) {
  return blocks_.at(pages_at(address, 0).closed);
}

void GuardedMemory::require_before(const Access& before, const VectorClock& clock,
                                   const std::string& who) {
  if (!clock.covers(before.ticket)) {
    reports_.push_back(who + " meets " + before.who + ", and nothing orders them");
  }
}

void GuardedMemory::read(const std::byte* address, const VectorClock& clock, const Ticket& ticket,
                         const std::string& who) {
  Block& block = block_at(address);
  require_before(block.last_write, clock, who + " (read)");
  if (ticket) {
    block.reads[ticket.stream] = {ticket, who + " (read)"};
  }
}

void GuardedMemory::write(const std::byte* address, const VectorClock& clock, const Ticket& ticket,
                          const std::string& who) {
  Block& block = block_at(address);
  require_before(block.last_write, clock, who + " (write)");
  for (const auto& [stream, access] : block.reads) {
    require_before(access, clock, who + " (write)");
  }
  block.reads.clear();
  block.last_write = {ticket, who + " (write)"};
}

std::vector<std::string> GuardedMemory::take_reports() {
  return std::exchange(reports_, {});
}

}  // namespace tessera::test
