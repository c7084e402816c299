// Memory to copy: private, or shared as ranks of one host share it.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <stdexcept>
#include <utility>

namespace bench {

/// A zeroed mapping with huge pages where the system gives them. Owns it; moves, does not copy.
class Mapping {
 public:
  Mapping() = default;

  static Mapping private_memory(std::size_t bytes) {
    return Mapping(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  }

  static Mapping shared_memory(std::size_t bytes) {
    const int file = memfd_create("tessera-roofs", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) {
      throw std::runtime_error("roofs: no shared memory");
    }
    Mapping mapping(bytes, MAP_SHARED, file);
    close(file);
    return mapping;
  }

  Mapping(Mapping&& other) noexcept { swap(other); }
  Mapping& operator=(Mapping&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Mapping() {
    if (data_ != nullptr) {
      munmap(data_, bytes_);
    }
  }

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

 private:
  Mapping(std::size_t bytes, int flags, int file) : bytes_(bytes) {
    void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
    if (address == MAP_FAILED) {
      throw std::runtime_error("roofs: out of memory");
    }
    madvise(address, bytes, MADV_HUGEPAGE);  // refused for some kinds of memory: no matter
    data_ = static_cast<std::byte*>(address);
  }

  void swap(Mapping& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace bench
