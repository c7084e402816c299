#include <tessera/dist/comm/anonymous_memory.h>

#include <sys/mman.h>

#include <algorithm>

#include <tessera/core/base/error.h>
#include <tessera/core/device/huge_pages.h>

namespace tessera::dist {

CommBuffer anonymous_memory(std::size_t nbytes) {
  const std::size_t length = std::max<std::size_t>(nbytes, 1);
  std::byte* pages = map_from_huge_page(length);
  check<DeviceError>(pages != nullptr, "allocate: out of memory; got a request of ", nbytes,
                     " bytes");
  const std::shared_ptr<void> owner(pages, [length](void* p) { munmap(p, length); });
  return {pages, nbytes, owner};
}

}  // namespace tessera::dist
