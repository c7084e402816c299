#include <tessera/nn/io/aligned_buffer.h>

#include <sys/mman.h>

#include <new>

#include <tessera/core/base/file.h>
#include <tessera/core/device/huge_pages.h>

namespace tessera::nn {

void AlignedBuffer::grow(std::size_t size) {
  const bool huge = size >= kHugePage;
  const std::size_t alignment = huge ? kHugePage : kDirectAlignment;
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, rounded)));
  capacity_ = memory_ == nullptr ? 0 : rounded;
  if (memory_ == nullptr) {
    throw std::bad_alloc();
  }
  if (huge) {
    (void)::madvise(memory_.get(), rounded, MADV_HUGEPAGE);  // a hint; no harm where refused
  }
}

}  // namespace tessera::nn
