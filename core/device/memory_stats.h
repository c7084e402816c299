// How much memory the process's tensors take, and what for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string_view>

namespace tessera {

/// What a block of memory is for.
enum class MemoryCategory : std::uint8_t {
  parameter,      ///< values that modules hold
  gradient,       ///< what backward makes, of parameters or on the way to them
  activation,     ///< results of ops, outside backward
  optimizer,      ///< moments and the like
  workspace,      ///< of kernels, while they run
  communication,  ///< rooms of collectives, what they gather included
  data,           ///< samples and batches
  other           ///< what a program makes itself (`zeros`, `tensor`, ...)
};

inline constexpr std::size_t kMemoryCategoryCount = 8;

[[nodiscard]] std::string_view to_string(MemoryCategory) noexcept;

/// Bytes, over all threads of the process (ranks that are threads share them).
struct MemoryStats {
  std::size_t current = 0;   ///< in blocks that are allocated now, as they were asked for
  std::size_t peak = 0;      ///< largest `current` since `reset_peak`, exact to 64 KiB a thread
  std::size_t reserved = 0;  ///< taken from the system, by the cache or beside it; at least
                             ///< `current` where there is a cache (core/device/allocator.h)
  std::array<std::size_t, kMemoryCategoryCount> by_category{};  ///< parts of `current`

  [[nodiscard]] std::size_t operator[](MemoryCategory category) const {
    return by_category[static_cast<std::size_t>(category)];
  }
};

/// Exact when no other thread allocates or frees meanwhile.
[[nodiscard]] MemoryStats memory_stats();
/// Makes the current use the peak.
void reset_peak();

/// Prints the totals and the categories that are not empty, in MiB, on one line.
std::ostream& operator<<(std::ostream&, const MemoryStats&);

/// Category of what the calling thread allocates; `other` outside any CategoryScope.
[[nodiscard]] MemoryCategory current_category() noexcept;

/// The category of the results of ops: `activation` outside any CategoryScope.
[[nodiscard]] MemoryCategory category_of_results() noexcept;

/// Sets the calling thread's category until the scope ends.
class CategoryScope {
 public:
  explicit CategoryScope(MemoryCategory category) noexcept;
  ~CategoryScope();
  CategoryScope(const CategoryScope&) = delete;
  CategoryScope& operator=(const CategoryScope&) = delete;

 private:
  MemoryCategory previous_;
};

/// Counts `nbytes` (negative: gives back) of memory that did not come from `allocate`, such as a
/// mapping shared between processes, as in use and as reserved.
void count_memory(MemoryCategory category, std::ptrdiff_t nbytes);

namespace detail {
/// Counts what came from `allocate`, as in use.
void count_block(MemoryCategory category, std::ptrdiff_t nbytes);
/// Counts what was taken from the system, for whatever use.
void count_reserved(std::ptrdiff_t nbytes) noexcept;
}  // namespace detail

}  // namespace tessera
