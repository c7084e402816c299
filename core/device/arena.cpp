#include <tessera/core/device/arena.h>

#include <algorithm>
#include <bit>

#include <sys/mman.h>

#include <tessera/core/base/error.h>
#include <tessera/core/device/available_memory.h>
#include <tessera/core/device/huge_pages.h>
#include <tessera/core/device/memory_stats.h>

namespace tessera {
namespace {

constexpr std::size_t round_up(std::size_t n, std::size_t unit) {
  return (n + unit - 1) / unit * unit;
}

// Eight bins for each doubling of the size: every chunk of a higher bin is larger than every chunk
// of a lower one.
std::size_t bin_of(std::size_t nbytes) {
  const std::size_t units = nbytes / Arena::kGranule;
  if (units < 8) {
    return units;
  }
  const auto shift = static_cast<std::size_t>(std::bit_width(units)) - 4;
  return 8 * (shift + 1) + ((units >> shift) & 7);
}

}  // namespace

struct Arena::Segment {
  std::byte* data;
  std::size_t nbytes;
  std::vector<bool> touched;  // of each huge page: may hold memory

  Segment(std::byte* at, std::size_t size)
      : data(at), nbytes(size), touched(size / kHugePage, false) {}
  ~Segment() { munmap(data, nbytes); }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
};

Arena::Arena(std::size_t segment_nbytes) : segment_nbytes_(round_up(segment_nbytes, kHugePage)) {}

Arena::~Arena() {
  detail::count_reserved(-static_cast<std::ptrdiff_t>(reserved_));
}

Arena::Chunk* Arena::allocate(std::size_t nbytes) {
  check<DeviceError>(nbytes <= kLargest, "allocate: out of memory; got a request for ", nbytes,
                     " bytes");
  const std::size_t size = round_up(nbytes, kGranule);
  const std::lock_guard lock(mutex_);
  Chunk* chunk = find(size);
  require_memory(chunk, size);
  if (chunk == nullptr) {
    chunk = grow(size);
  }
  remove(chunk);
  if (chunk->nbytes > size) {
    split(chunk, size);
  }
  touch(*chunk);
  return chunk;
}

void Arena::free(Chunk* chunk) noexcept {
  const std::lock_guard lock(mutex_);
  if (chunk->after != nullptr && chunk->after->is_free) {
    remove(chunk->after);
    absorb_next(chunk);
  }
  if (chunk->before != nullptr && chunk->before->is_free) {
    chunk = chunk->before;
    remove(chunk);
    absorb_next(chunk);
  }
  insert(chunk);
}

std::size_t Arena::trim() noexcept {
  const std::lock_guard lock(mutex_);
  return release_free_pages();
}

std::size_t Arena::release_free_pages() noexcept {
  std::size_t released = 0;
  for (const Chunk* chunk : bins_) {
    for (; chunk != nullptr; chunk = chunk->next_free) {
      released += release_pages(*chunk);
    }
  }
  return released;
}

std::size_t Arena::reserved() const {
  const std::lock_guard lock(mutex_);
  return reserved_;
}

Arena::Chunk* Arena::find(std::size_t nbytes) const {
  const std::size_t own = bin_of(nbytes);
  if (Chunk* const chunk = best_in(own, nbytes); chunk != nullptr) {
    return chunk;
  }
  for (std::size_t word = (own + 1) / 64; word < occupied_.size(); ++word) {
    std::uint64_t mask = occupied_[word];
    if (word == (own + 1) / 64) {
      mask &= ~std::uint64_t{0} << ((own + 1) % 64);
    }
    if (mask != 0) {
      return best_in(64 * word + static_cast<std::size_t>(std::countr_zero(mask)), nbytes);
    }
  }
  return nullptr;
}

Arena::Chunk* Arena::best_in(std::size_t bin, std::size_t nbytes) const {
  constexpr int kLooks = 32;  // bounds the time; what lies further back was freed longer ago
  Chunk* best = nullptr;
  Chunk* chunk = bins_[bin];
  for (int look = 0; chunk != nullptr && (look < kLooks || best == nullptr); ++look) {
    if (chunk->nbytes >= nbytes && (best == nullptr || chunk->nbytes < best->nbytes)) {
      best = chunk;
    }
    chunk = chunk->next_free;
  }
  return best;
}

void Arena::insert(Chunk* chunk) noexcept {
  const std::size_t bin = bin_of(chunk->nbytes);
  chunk->is_free = true;
  chunk->previous_free = nullptr;
  chunk->next_free = bins_[bin];
  if (chunk->next_free != nullptr) {
    chunk->next_free->previous_free = chunk;
  }
  bins_[bin] = chunk;
  occupied_[bin / 64] |= std::uint64_t{1} << (bin % 64);
}

void Arena::remove(Chunk* chunk) noexcept {
  const std::size_t bin = bin_of(chunk->nbytes);
  chunk->is_free = false;
  if (chunk->next_free != nullptr) {
    chunk->next_free->previous_free = chunk->previous_free;
  }
  if (chunk->previous_free != nullptr) {
    chunk->previous_free->next_free = chunk->next_free;
    return;
  }
  bins_[bin] = chunk->next_free;
  if (bins_[bin] == nullptr) {
    occupied_[bin / 64] &= ~(std::uint64_t{1} << (bin % 64));
  }
}

void Arena::split(Chunk* chunk, std::size_t nbytes) {
  Chunk* const rest = new_chunk();
  rest->data = chunk->data + nbytes;
  rest->nbytes = chunk->nbytes - nbytes;
  rest->segment = chunk->segment;
  rest->before = chunk;
  rest->after = chunk->after;
  if (rest->after != nullptr) {
    rest->after->before = rest;
  }
  chunk->after = rest;
  chunk->nbytes = nbytes;
  insert(rest);
}

void Arena::absorb_next(Chunk* chunk) noexcept {
  Chunk* const next = chunk->after;
  chunk->nbytes += next->nbytes;
  chunk->after = next->after;
  if (chunk->after != nullptr) {
    chunk->after->before = chunk;
  }
  recycle(next);
}

Arena::Chunk* Arena::grow(std::size_t nbytes) {
  const std::size_t needed = round_up(nbytes, kHugePage);
  std::size_t size = std::max(segment_nbytes_, needed);
  std::byte* data = map_from_huge_page(size);
  while (data == nullptr && size > needed) {  // limits on address space: be modest
    size = std::max(round_up(size / 2, kHugePage), needed);
    data = map_from_huge_page(size);
  }
  check<DeviceError>(data != nullptr, "allocate: out of memory; got a request for ", nbytes,
                     " bytes");
  segments_.push_back(std::make_unique<Segment>(data, size));
  Chunk* const chunk = new_chunk();
  chunk->data = data;
  chunk->nbytes = size;
  chunk->segment = segments_.back().get();
  insert(chunk);
  return chunk;
}

// Of the first bytes of a chunk, or of one that is not there yet.
std::size_t Arena::fresh_bytes(const Chunk* chunk, std::size_t nbytes) {
  if (chunk == nullptr) {
    return nbytes;
  }
  const Segment& segment = *chunk->segment;
  const auto offset = static_cast<std::size_t>(chunk->data - segment.data);
  const auto begin = segment.touched.begin() + static_cast<std::ptrdiff_t>(offset / kHugePage);
  const auto end =
      segment.touched.begin() + static_cast<std::ptrdiff_t>((offset + nbytes - 1) / kHugePage + 1);
  return static_cast<std::size_t>(std::count(begin, end, false)) * kHugePage;
}

// The system promises memory that it does not have, and kills when it is used: a request that
// cannot be met is found before. What the cache keeps is given up first.
void Arena::require_memory(const Chunk* chunk, std::size_t nbytes) {
  if (is_available(fresh_bytes(chunk, nbytes))) {
    return;
  }
  release_free_pages();
  check<DeviceError>(is_available(fresh_bytes(chunk, nbytes)),
                     "allocate: out of memory; got a request for ", nbytes, " bytes, ",
                     available_memory(), " are left; ", memory_stats());
}

void Arena::touch(const Chunk& chunk) {
  Segment& segment = *chunk.segment;
  const auto offset = static_cast<std::size_t>(chunk.data - segment.data);
  const std::size_t end = (offset + chunk.nbytes - 1) / kHugePage;
  const std::size_t fresh = fresh_bytes(&chunk, chunk.nbytes);
  if (fresh > 0) {
    std::fill(segment.touched.begin() + static_cast<std::ptrdiff_t>(offset / kHugePage),
              segment.touched.begin() + static_cast<std::ptrdiff_t>(end + 1), true);
    reserved_ += fresh;
    detail::count_reserved(static_cast<std::ptrdiff_t>(fresh));
  }
}

std::size_t Arena::release_pages(const Chunk& chunk) noexcept {
  Segment& segment = *chunk.segment;
  const auto offset = static_cast<std::size_t>(chunk.data - segment.data);
  const std::size_t end = (offset + chunk.nbytes) / kHugePage;
  std::size_t released = 0;
  for (std::size_t page = round_up(offset, kHugePage) / kHugePage; page < end; ++page) {
    if (segment.touched[page] &&
        madvise(segment.data + page * kHugePage, kHugePage, MADV_DONTNEED) == 0) {
      segment.touched[page] = false;
      released += kHugePage;
    }
  }
  reserved_ -= released;
  detail::count_reserved(-static_cast<std::ptrdiff_t>(released));
  return released;
}

Arena::Chunk* Arena::new_chunk() {
  if (spare_chunks_ == nullptr) {
    return &chunks_.emplace_back();
  }
  Chunk* const chunk = spare_chunks_;
  spare_chunks_ = chunk->next_free;
  *chunk = Chunk{};
  return chunk;
}

void Arena::recycle(Chunk* chunk) noexcept {
  chunk->next_free = spare_chunks_;
  spare_chunks_ = chunk;
}

}  // namespace tessera
