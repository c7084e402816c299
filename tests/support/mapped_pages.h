// Memory of test devices: pages that are mapped thrice.
#pragma once

#include <cstddef>

namespace tessera::test {

/// The same pages, closed to the host, at the address that tensors carry, to be read, and to be
/// written.
struct MappedPages {
  std::byte* closed = nullptr;
  std::byte* readable = nullptr;
  std::byte* writable = nullptr;
  std::size_t nbytes = 0;
};

/// Pages for `nbytes`; throws DeviceError when there are no more.
[[nodiscard]] MappedPages map_pages(std::size_t nbytes);
void unmap_pages(const MappedPages& pages) noexcept;

/// Those in which the closed address `address` and `nbytes` from it on lie. Throws InternalError
/// when none are mapped there.
[[nodiscard]] MappedPages pages_at(const std::byte* address, std::size_t nbytes);

/// Where the host may write what it knows by a closed address.
[[nodiscard]] std::byte* writable_address(const std::byte* closed, std::size_t nbytes);

}  // namespace tessera::test
