#include <tessera/core/device/shared_pages.h>

#include <sys/mman.h>

#include <algorithm>

#include <tessera/core/base/error.h>

namespace tessera {

std::shared_ptr<void> shared_pages(std::size_t nbytes) {
  const std::size_t length = std::max<std::size_t>(nbytes, 1);
  void* pages = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  check<DeviceError>(pages != MAP_FAILED, "shared memory: there is none for ", nbytes, " bytes");
  return {pages, [length](void* p) { munmap(p, length); }};
}

}  // namespace tessera
