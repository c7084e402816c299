#include <tessera/kernels/cpu/amx.h>

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tessera::cpu {

#if defined(__x86_64__) && defined(__linux__)
namespace {

bool has_tiles_of_bf16() {
  constexpr unsigned kBf16 = 1U << 22, kTiles = 1U << 24;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kBf16) != 0 && (d & kTiles) != 0;
}

bool ask_for_tile_data() {
  constexpr int kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

bool may_use_amx() noexcept {
  static const bool may = has_tiles_of_bf16() && ask_for_tile_data();
  return may;
}
#else
bool may_use_amx() noexcept {
  return false;
}
#endif

}  // namespace tessera::cpu
