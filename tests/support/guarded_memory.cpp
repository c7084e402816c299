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

bool meet(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.data() < b.data() + b.size() && b.data() < a.data() + a.size();
}

bool covers(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.data() <= b.data() && b.data() + b.size() <= a.data() + a.size();
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
  blocks_[taken.pages.closed].writes = {
      {{taken.pages.closed, taken.pages.nbytes}, taken.free_from, "the owner before"}};
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

void GuardedMemory::require_before(const std::vector<Access>& before, const Access& now,
                                   const VectorClock& clock) {
  for (const Access& access : before) {
    if (meet(access.bytes, now.bytes) && !clock.covers(access.ticket)) {
      reports_.push_back(now.who + " meets " + access.who + ", and nothing orders them");
    }
  }
}

void GuardedMemory::read(std::span<const std::byte> bytes, const VectorClock& clock,
                         const Ticket& ticket, const std::string& who) {
  Block& block = block_at(bytes.data());
  Access now{bytes, ticket, who + " (read)"};
  require_before(block.writes, now, clock);
  if (ticket) {
    std::erase_if(block.reads, [&](const Access& access) {
      return access.ticket.stream == ticket.stream && covers(bytes, access.bytes);
    });
    block.reads.push_back(std::move(now));
  }
}

void GuardedMemory::write(std::span<const std::byte> bytes, const VectorClock& clock,
                          const Ticket& ticket, const std::string& who) {
  Block& block = block_at(bytes.data());
  Access now{bytes, ticket, who + " (write)"};
  for (std::vector<Access>* accesses : {&block.writes, &block.reads}) {
    require_before(*accesses, now, clock);
    std::erase_if(*accesses, [&](const Access& access) { return covers(bytes, access.bytes); });
  }
  block.writes.push_back(std::move(now));
}

std::vector<Ticket> GuardedMemory::before(std::span<const std::byte> bytes, bool writes) {
  const Block& block = block_at(bytes.data());
  std::vector<Ticket> tickets;
  for (const auto* accesses : {&block.writes, &block.reads}) {
    for (const Access& access : *accesses) {
      if (meet(access.bytes, bytes) && (writes || accesses == &block.writes)) {
        tickets.push_back(access.ticket);
      }
    }
  }
  return tickets;
}

std::vector<std::string> GuardedMemory::take_reports() {
  return std::exchange(reports_, {});
}

}  // namespace tessera::test
