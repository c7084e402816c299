#include <sys/mman.h>

#include <cstdlib>
#include <new>

#include <tessera/core/device/huge_pages.h>
#include <tessera/kernels/cpu/scratch.h>

namespace tessera::cpu {
namespace {

class ScratchMemory {
 public:
  ScratchMemory() = default;
  ScratchMemory(const ScratchMemory&) = delete;
  ScratchMemory& operator=(const ScratchMemory&) = delete;
  ~ScratchMemory() { std::free(data_); }

  void* at_least(std::size_t bytes) {
    if (bytes > size_) {
      grow(bytes);
    }
    return data_;
  }

 private:
  void grow(std::size_t bytes) {
    std::free(data_);
    size_ = 0;
    const std::size_t align = bytes >= kHugePage ? kHugePage : 4096;
    const std::size_t rounded = (bytes + align - 1) / align * align;
    data_ = std::aligned_alloc(align, rounded);
    if (data_ == nullptr) {
      throw std::bad_alloc();
    }
    size_ = rounded;
    if (align == kHugePage) {
      madvise(data_, rounded, MADV_HUGEPAGE);
    }
  }

  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace

void* scratch(Scratch purpose, std::size_t bytes) {
  thread_local ScratchMemory blocks[static_cast<std::size_t>(Scratch::count)];
  return blocks[static_cast<std::size_t>(purpose)].at_least(bytes);
}

}  // namespace tessera::cpu
