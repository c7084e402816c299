// Memory in huge pages: its pages cost fewer faults, and fewer misses of the TLB.
#pragma once

#include <cstddef>
#include <span>

namespace tessera {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// Maps `nbytes` of zeroed memory of this process, or of the open `file`, which others may map too.
/// The address is a multiple of kHugePage, and pages will be huge where the system gives such when
/// they are first touched. The caller unmaps; null when nothing can be mapped, errno says why.
[[nodiscard]] std::byte* map_from_huge_page(std::size_t nbytes, int file = -1) noexcept;

/// Takes all pages of mapped memory now, huge ones where it can; what they hold stays. Files in
/// memory get huge pages by this alone on most systems, since Linux 6.1. Where the system refuses,
/// pages come when they are touched.
void take_pages(std::span<std::byte> memory) noexcept;

}  // namespace tessera
