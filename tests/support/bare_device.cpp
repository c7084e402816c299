#include "support/bare_device.h"

#include <atomic>
#include <cstring>

#include <tessera/core/device/backend.h>

#include "support/mapped_pages.h"

namespace tessera::test {
namespace {

std::atomic<std::size_t> bytes_alive = 0;

int count() {
  return 2;
}

DeviceMemory allocate_closed(const StreamId&, std::size_t nbytes, MemoryCategory category) {
  const MappedPages pages = map_pages(nbytes);
  bytes_alive += nbytes;
  return {.memory = {.data = pages.closed, .nbytes = nbytes, .category = category}};
}

void deallocate_closed(const MemoryBlock& block, const StreamId&,
                       std::span<const Ticket>) noexcept {
  unmap_pages(pages_at(block.data, block.nbytes));
  bytes_alive -= block.nbytes;
}

void write_closed(int, std::byte* to, const std::byte* from, std::size_t nbytes) {
  std::memcpy(writable_address(to, nbytes), from, nbytes);
}

void read_closed(int, std::byte* to, const std::byte* from, std::size_t nbytes) {
  std::memcpy(to, writable_address(from, nbytes), nbytes);
}

constexpr DeviceBackend kBare{.name = "bare",
                              .count = count,
                              .allocate = allocate_closed,
                              .deallocate = deallocate_closed,
                              .write = write_closed,
                              .read = read_closed};
const RegisterDevice register_bare{kBare};

DeviceMemory allocate_open(const StreamId&, std::size_t nbytes, MemoryCategory category) {
  return {.memory = allocate(nbytes, category)};
}

void deallocate_open(const MemoryBlock& block, const StreamId&, std::span<const Ticket>) noexcept {
  deallocate(block);
}

constexpr DeviceBackend kOpen{.name = "open",
                              .host_addressable = true,
                              .count = count,
                              .allocate = allocate_open,
                              .deallocate = deallocate_open};
const RegisterDevice register_open{kOpen};

}  // namespace

Device bare_device() {
  return {.type = register_bare.type()};
}

Device open_device() {
  return {.type = register_open.type()};
}

std::size_t bare_bytes() {
  return bytes_alive;
}

}  // namespace tessera::test
