// Memory that direct transfers accept.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

#include <tessera/core/base/file.h>

namespace tessera::nn {

/// A block of bytes aligned to `kDirectAlignment` that grows on demand and then keeps no contents.
class AlignedBuffer {
 public:
  /// The first `size` bytes, whose contents are unspecified.
  [[nodiscard]] std::span<std::byte> resized(std::size_t size) {
    if (size > capacity_) {
      const std::size_t rounded =
          (size + kDirectAlignment - 1) / kDirectAlignment * kDirectAlignment;
      memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kDirectAlignment, rounded)));
      capacity_ = memory_ == nullptr ? 0 : rounded;
      if (memory_ == nullptr) {
        throw std::bad_alloc();
      }
    }
    return {memory_.get(), size};
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t capacity_ = 0;
};

}  // namespace tessera::nn
