#include <tessera/dist/comm/anonymous_memory.h>

#include <sys/mman.h>

#include <algorithm>

#include <tessera/core/base/error.h>

namespace tessera::dist {

CommBuffer anonymous_memory(std::size_t nbytes) {
  const std::size_t length = std::max<std::size_t>(nbytes, 1);
  void* pages = mmap(nullptr, length, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  check<DeviceError>(pages != MAP_FAILED, "allocate: out of memory; got a request of ", nbytes,
                     " bytes");
  madvise(pages, length, MADV_HUGEPAGE);
  const std::shared_ptr<void> owner(pages, [length](void* p) { munmap(p, length); });
  return {static_cast<std::byte*>(pages), nbytes, owner};
}

}  // namespace tessera::dist
