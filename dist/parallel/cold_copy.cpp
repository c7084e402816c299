#include <tessera/dist/parallel/cold_copy.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <tessera/core/device/thread_pool.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace tessera::dist {
namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10;

#if defined(__x86_64__)
void copy(const std::byte* from, std::byte* to, std::size_t nbytes) {
  constexpr std::size_t kLine = 64;
  const std::size_t head = std::min(nbytes, (kLine - reinterpret_cast<std::uintptr_t>(to)) % kLine);
  std::memcpy(to, from, head);
  std::size_t at = head;
  for (; at + kLine <= nbytes; at += kLine) {
    for (std::size_t i = at; i < at + kLine; i += sizeof(__m128i)) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
    }
  }
  std::memcpy(to + at, from + at, nbytes - at);
  _mm_sfence();
}
#else
void copy(const std::byte* from, std::byte* to, std::size_t nbytes) {
  std::memcpy(to, from, nbytes);
}
#endif

}  // namespace

void copy_past_caches(std::span<const std::byte> source, const std::vector<std::byte*>& targets,
                      std::size_t offset) {
  const std::size_t pieces = (source.size() + kPiece - 1) / kPiece;
  parallel_for(static_cast<std::int64_t>(pieces), [&](std::int64_t piece) {
    const std::size_t at = static_cast<std::size_t>(piece) * kPiece;
    const std::size_t nbytes = std::min(kPiece, source.size() - at);
    for (std::byte* target : targets) {
      copy(source.data() + at, target + offset + at, nbytes);
    }
  });
}

}  // namespace tessera::dist
