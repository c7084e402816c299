// What the tests of kernels share: filled buffers, instruction sets, numbers of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

#include "support/every_isa.h"

#include <tessera/core/device/thread_pool.h>
#include <tessera/core/tensor/half.h>
#include <tessera/kernels/cpu/isa.h>

namespace tessera::cpu::test {

/// Uniform in [-1, 1), the same for the same seed.
template <class T = float>
std::vector<T> random_values(std::int64_t count, std::uint64_t seed, float scale = 1.0F) {
  std::vector<T> values(static_cast<std::size_t>(count));
  std::uint64_t state = seed * 0x9e3779b97f4a7c15ULL + 0x1234567ULL;
  for (T& v : values) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    v = T(scale * (static_cast<float>(state >> 40) * 0x1p-23F - 1.0F));
  }
  return values;
}

/// Aligned as tensors are.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};

  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kAlignment)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, kAlignment); }
  friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) = default;
};
using AlignedFloats = std::vector<float, AlignedAllocator<float>>;

inline float rounded(float x) {
  return static_cast<float>(BFloat16(x));
}

using tessera::test::on_every_isa;

/// Runs `body` with 1, 2, 3 and 16 threads, then restores the number.
template <class Body>
void with_every_thread_count(Body&& body) {
  const int before = num_threads();
  for (const int n : {1, 2, 3, 16}) {
    set_num_threads(n);
    body(n);
  }
  set_num_threads(before);
}

template <class T, class A>
bool same_bits(const std::vector<T, A>& a, const std::vector<T, A>& b) {
  return a.size() == b.size() && std::equal(reinterpret_cast<const char*>(a.data()),
                                            reinterpret_cast<const char*>(a.data() + a.size()),
                                            reinterpret_cast<const char*>(b.data()));
}

}  // namespace tessera::cpu::test
