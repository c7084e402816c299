#include <tessera/core/device/huge_pages.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace tessera {
namespace {

// Values of Linux's interface that older headers do not have.
constexpr int kPopulateWrite = 23;
constexpr int kCollapse = 25;

std::size_t next_multiple(std::size_t n, std::size_t unit) {
  return (n + unit - 1) / unit * unit;
}

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// Joins the pages of [data, data + nbytes), whole huge ones, where the system did not give such.
/// Only pages that hold something are joined, so each gets its first page before.
void collapse(std::byte* data, std::size_t nbytes) {
  for (std::size_t at = 0; at < nbytes; at += kHugePage) {
    if (madvise(data + at, page_bytes(), kPopulateWrite) != 0) {
      return;
    }
  }
  madvise(data, nbytes, kCollapse);
}

}  // namespace

std::byte* map_from_huge_page(std::size_t nbytes, int file) noexcept {
  const std::size_t length = next_multiple(nbytes, page_bytes());
  void* const room = mmap(nullptr, length + kHugePage, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) {
    return nullptr;
  }
  auto* const begin = static_cast<std::byte*>(room);
  const std::size_t head =
      (kHugePage - reinterpret_cast<std::uintptr_t>(begin) % kHugePage) % kHugePage;
  const int kind = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
  void* const pages = mmap(begin + head, length, PROT_READ | PROT_WRITE, kind | MAP_FIXED, file, 0);
  if (pages == MAP_FAILED) {
    munmap(room, length + kHugePage);
    return nullptr;
  }
  if (head > 0) {
    munmap(begin, head);
  }
  munmap(begin + head + length, kHugePage - head);
  madvise(pages, length, MADV_HUGEPAGE);
  return static_cast<std::byte*>(pages);
}

void take_pages(std::span<std::byte> memory) noexcept {
  if (memory.empty()) {
    return;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uintptr_t begin = address / page_bytes() * page_bytes();
  const std::uintptr_t end = next_multiple(address + memory.size(), page_bytes());
  const std::uintptr_t first = next_multiple(begin, kHugePage);
  const std::uintptr_t last = end / kHugePage * kHugePage;
  if (first < last) {
    collapse(reinterpret_cast<std::byte*>(first), last - first);
  }
  madvise(reinterpret_cast<void*>(begin), end - begin, kPopulateWrite);
}

}  // namespace tessera
