#include "support/mapped_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>

#include <tessera/core/base/error.h>

namespace tessera::test {
namespace {

struct AllPages {
  std::mutex mutex;
  std::map<const std::byte*, MappedPages> by_address;  ///< the closed one
};

AllPages& all_pages() {
  static AllPages pages;
  return pages;
}

std::byte* mapped(int file, std::size_t nbytes, int protection) {
  void* address = mmap(nullptr, nbytes, protection, MAP_SHARED, file, 0);
  check<DeviceError>(address != MAP_FAILED, "test device: no memory");
  return static_cast<std::byte*>(address);
}

}  // namespace

MappedPages map_pages(std::size_t nbytes) {
  const std::size_t whole = std::max<std::size_t>(nbytes, 1);
  const int file = memfd_create("test device", 0);
  check<DeviceError>(file >= 0 && ftruncate(file, static_cast<off_t>(whole)) == 0,
                     "test device: no memory");
  const MappedPages pages{mapped(file, whole, PROT_NONE), mapped(file, whole, PROT_READ),
                          mapped(file, whole, PROT_READ | PROT_WRITE), whole};
  close(file);
  AllPages& all = all_pages();
  const std::lock_guard lock(all.mutex);
  all.by_address[pages.closed] = pages;
  return pages;
}

void unmap_pages(const MappedPages& pages) noexcept {
  AllPages& all = all_pages();
  const std::lock_guard lock(all.mutex);
  all.by_address.erase(pages.closed);
  for (std::byte* address : {pages.closed, pages.readable, pages.writable}) {
    munmap(address, pages.nbytes);
  }
}

MappedPages pages_at(const std::byte* address, std::size_t nbytes) {
  AllPages& all = all_pages();
  const std::lock_guard lock(all.mutex);
  const auto behind = all.by_address.upper_bound(address);
  check<InternalError>(behind != all.by_address.begin(), "test device: no block lies there");
  const MappedPages& pages = std::prev(behind)->second;
  check<InternalError>(static_cast<std::size_t>(address - pages.closed) + nbytes <= pages.nbytes,
                       "test device: the block ends before");
  return pages;
}

std::byte* writable_address(const std::byte* closed, std::size_t nbytes) {
  const MappedPages pages = pages_at(closed, nbytes);
  return pages.writable + (closed - pages.closed);
}

}  // namespace tessera::test
