// Memory that direct transfers accept.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>

namespace tessera::nn {

/// A block of bytes aligned to `kDirectAlignment` that grows on demand and then keeps no contents.
/// Large ones lie in huge pages, from which direct transfers are up to twice as fast.
class AlignedBuffer {
 public:
  /// The first `size` bytes, whose contents are unspecified.
  [[nodiscard]] std::span<std::byte> resized(std::size_t size) {
    if (size > capacity_) {
      grow(size);
    }
    return {memory_.get(), size};
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };
  void grow(std::size_t size);

  std::unique_ptr<std::byte, Free> memory_;
  std::size_t capacity_ = 0;
};

}  // namespace tessera::nn
