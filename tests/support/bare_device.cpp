#include "support/bare_device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

#include <tessera/core/base/error.h>
#include <tessera/core/device/backend.h>

namespace tessera::test {
namespace {

std::atomic<std::size_t> bytes_alive = 0;

/// Pages that are mapped twice: closed, at the address that tensors carry, and open.
struct Pages {
  std::byte* closed = nullptr;
  std::byte* open = nullptr;
  std::size_t nbytes = 0;
};

struct AllPages {
  std::mutex mutex;
  std::map<const std::byte*, Pages> by_address;  ///< the closed one
};

AllPages& all_pages() {
  static AllPages pages;
  return pages;
}

std::byte* mapped(int file, std::size_t nbytes, int protection) {
  void* address = mmap(nullptr, nbytes, protection, MAP_SHARED, file, 0);
  check<DeviceError>(address != MAP_FAILED, "bare device: no memory");
  return static_cast<std::byte*>(address);
}

int count() {
  return 2;
}

MemoryBlock allocate_closed(int, std::size_t nbytes, MemoryCategory category) {
  const std::size_t whole = std::max<std::size_t>(nbytes, 1);
  const int file = memfd_create("bare device", 0);
  check<DeviceError>(file >= 0 && ftruncate(file, static_cast<off_t>(whole)) == 0,
                     "bare device: no memory");
  const Pages pages{mapped(file, whole, PROT_NONE), mapped(file, whole, PROT_READ | PROT_WRITE),
                    whole};
  close(file);
  AllPages& all = all_pages();
  const std::lock_guard lock(all.mutex);
  all.by_address[pages.closed] = pages;
  bytes_alive += nbytes;
  return {.data = pages.closed, .nbytes = nbytes, .category = category};
}

void deallocate_closed(const MemoryBlock& block) noexcept {
  AllPages& all = all_pages();
  const std::lock_guard lock(all.mutex);
  const auto found = all.by_address.find(block.data);
  munmap(found->second.closed, found->second.nbytes);
  munmap(found->second.open, found->second.nbytes);
  all.by_address.erase(found);
  bytes_alive -= block.nbytes;
}

/// Where `nbytes` from a closed address on lie open.
std::byte* open_address(const std::byte* closed, std::size_t nbytes) {
  AllPages& all = all_pages();
  const std::lock_guard lock(all.mutex);
  const auto behind = all.by_address.upper_bound(closed);
  check<InternalError>(behind != all.by_address.begin(), "bare device: no block lies there");
  const Pages& pages = std::prev(behind)->second;
  const std::ptrdiff_t offset = closed - pages.closed;
  check<InternalError>(static_cast<std::size_t>(offset) + nbytes <= pages.nbytes,
                       "bare device: the block ends before");
  return pages.open + offset;
}

void write_closed(int, std::byte* to, const std::byte* from, std::size_t nbytes) {
  std::memcpy(open_address(to, nbytes), from, nbytes);
}

void read_closed(int, std::byte* to, const std::byte* from, std::size_t nbytes) {
  std::memcpy(to, open_address(from, nbytes), nbytes);
}

constexpr DeviceBackend kBare{.name = "bare",
                              .count = count,
                              .allocate = allocate_closed,
                              .deallocate = deallocate_closed,
                              .write = write_closed,
                              .read = read_closed};
const RegisterDevice register_bare{kBare};

}  // namespace

Device bare_device() {
  return {.type = register_bare.type()};
}

std::size_t bare_bytes() {
  return bytes_alive;
}

}  // namespace tessera::test
