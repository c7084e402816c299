#include <tessera/dist/comm/shared/copy_in_caches.h>

#include <algorithm>
#include <cstring>

namespace tessera::dist {
namespace {

constexpr std::size_t kByRegisters = 2048;  // what memcpy copies by registers on every x86-64

/// Hides the size from the compiler, which would write `rep movs` itself where it knows it.
std::size_t opaque(std::size_t size) noexcept {
#if defined(__GNUC__)
  asm volatile("" : "+r"(size));
#endif
  return size;
}

}  // namespace

void copy_in_caches(void* to, const void* from, std::size_t nbytes) noexcept {
  auto* out = static_cast<std::byte*>(to);
  const auto* in = static_cast<const std::byte*>(from);
  while (nbytes > 0) {
    const std::size_t some = opaque(std::min(nbytes, kByRegisters));
    std::memcpy(out, in, some);
    out += some;
    in += some;
    nbytes -= some;
  }
}

}  // namespace tessera::dist
