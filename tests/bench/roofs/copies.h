// Copies of memory, with ordinary and with non-temporal stores.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bench {

/// Copies `bytes`, a multiple of 64, between 64-byte aligned buffers.
using CopyLoop = void (*)(std::byte* dst, const std::byte* src, std::size_t bytes);

inline void copy_library(std::byte* dst, const std::byte* src, std::size_t bytes) {
  std::memcpy(dst, src, bytes);
}

#if defined(__x86_64__)

inline void copy_stream_sse(std::byte* dst, const std::byte* src, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += sizeof(__m128i)) {
    const auto* from = reinterpret_cast<const __m128i*>(src + i);
    _mm_stream_si128(reinterpret_cast<__m128i*>(dst + i), _mm_load_si128(from));
  }
  _mm_sfence();
}

[[gnu::target("avx512f")]] inline void copy_plain_avx512(std::byte* dst, const std::byte* src,
                                                         std::size_t bytes) {
#pragma GCC unroll 4
  for (std::size_t i = 0; i < bytes; i += sizeof(__m512i)) {
    _mm512_store_si512(dst + i, _mm512_load_si512(src + i));
  }
}

[[gnu::target("avx512f")]] inline void copy_stream_avx512(std::byte* dst, const std::byte* src,
                                                          std::size_t bytes) {
#pragma GCC unroll 4
  for (std::size_t i = 0; i < bytes; i += sizeof(__m512i)) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(dst + i), _mm512_load_si512(src + i));
  }
  _mm_sfence();
}

#endif

/// The copies worth trying on this CPU: a roof is the best of them.
inline std::vector<CopyLoop> copy_loops() {
  std::vector<CopyLoop> loops{copy_library};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    loops.insert(loops.end(), {copy_plain_avx512, copy_stream_avx512});
  } else {
    loops.push_back(copy_stream_sse);
  }
#endif
  return loops;
}

}  // namespace bench
