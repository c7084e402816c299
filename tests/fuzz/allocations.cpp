#include "allocations.h"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> current = 0;
std::atomic<std::size_t> peak = 0;

}  // namespace

void* operator new(std::size_t size) {
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  const std::size_t now = current += ::malloc_usable_size(memory);
  for (std::size_t most = peak; most < now && !peak.compare_exchange_weak(most, now);) {
  }
  return memory;
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void operator delete(void* memory) noexcept {
  if (memory != nullptr) {
    current -= ::malloc_usable_size(memory);
    std::free(memory);
  }
}

void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}

namespace tessera::fuzz {

AllocationPeak::AllocationPeak() : before_(current) {
  peak = before_;
}

std::size_t AllocationPeak::bytes() const {
  return peak - before_;
}

}  // namespace tessera::fuzz
