// Large blocks of memory, cut from segments of huge pages and joined again when freed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace tessera {

/// A best-fit allocator over segments of address space. Pages are first used where pages have been
/// used before, so that a loop that repeats its allocations soon causes no page faults. Free
/// neighbours are joined at once; a block wastes less than one granule. Thread-safe.
class Arena {
 public:
  static constexpr std::size_t kGranule = 512;
  static constexpr std::size_t kLargest = std::size_t{1} << 46;  ///< no request is larger

  struct Segment;
  /// A run of granules, free or not. Bookkeeping is kept outside of the memory it describes.
  struct Chunk {
    std::byte* data = nullptr;  ///< aligned to kGranule
    std::size_t nbytes = 0;     ///< a multiple of kGranule
    Segment* segment = nullptr;
    Chunk* before = nullptr;  ///< neighbours by address in the segment
    Chunk* after = nullptr;
    Chunk* previous_free = nullptr;  ///< neighbours in the list of a bin
    Chunk* next_free = nullptr;
    bool is_free = false;
  };

  /// Segments span at least `segment_nbytes` of addresses; they take memory as it is used.
  explicit Arena(std::size_t segment_nbytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// A chunk of at least `nbytes` > 0. Throws DeviceError, before anything is used, when the
  /// machine or the control group has not so much left.
  [[nodiscard]] Chunk* allocate(std::size_t nbytes);
  void free(Chunk* chunk) noexcept;
  /// Gives the huge pages that no block touches back to the system; returns their bytes.
  std::size_t trim() noexcept;
  /// Bytes of the pages that blocks have used since they were last given back.
  [[nodiscard]] std::size_t reserved() const;

 private:
  static constexpr std::size_t kBins = 320;  // enough for kLargest

  Chunk* find(std::size_t nbytes) const;
  Chunk* best_in(std::size_t bin, std::size_t nbytes) const;
  void insert(Chunk* chunk) noexcept;
  void remove(Chunk* chunk) noexcept;
  void split(Chunk* chunk, std::size_t nbytes);
  void absorb_next(Chunk* chunk) noexcept;
  Chunk* grow(std::size_t nbytes);
  static std::size_t fresh_bytes(const Chunk* chunk, std::size_t nbytes);
  void require_memory(const Chunk* chunk, std::size_t nbytes);
  void touch(const Chunk& chunk);
  std::size_t release_free_pages() noexcept;
  std::size_t release_pages(const Chunk& chunk) noexcept;
  Chunk* new_chunk();
  void recycle(Chunk* chunk) noexcept;

  const std::size_t segment_nbytes_;
  mutable std::mutex mutex_;
  std::array<Chunk*, kBins> bins_{};
  std::array<std::uint64_t, kBins / 64> occupied_{};
  std::vector<std::unique_ptr<Segment>> segments_;
  std::deque<Chunk> chunks_;
  Chunk* spare_chunks_ = nullptr;
  std::size_t reserved_ = 0;
};

}  // namespace tessera
