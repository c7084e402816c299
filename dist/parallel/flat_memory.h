// One space of f32 elements in which the parameters of a model, or what belongs to them, lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tessera/core/device/memory_stats.h>
#include <tessera/dist/comm/communicator.h>

namespace tessera::dist {

/// Elements of a flat space, from `first` to behind `last`.
struct FlatRange {
  std::int64_t first = 0;
  std::int64_t last = 0;

  [[nodiscard]] std::int64_t count() const { return last - first; }
  /// What both hold; of count 0 where that is nothing.
  [[nodiscard]] FlatRange common_with(const FlatRange& other) const;
};

/// A flat space on one device, of zeros. On the host it is the communicator's memory, which ranks
/// of one host can read. Tensors on it share the tickets of work on it and have versions of their
/// own.
class FlatMemory {
 public:
  FlatMemory() = default;
  /// `count` elements that count as `category`, and `more` for communication. Collective.
  FlatMemory(Communicator& comm, const Device& device, std::int64_t count, MemoryCategory category,
             std::int64_t more = 0);

  explicit operator bool() const { return static_cast<bool>(storage_); }
  /// A tensor on the elements from `offset` on.
  [[nodiscard]] Tensor at(std::int64_t offset, const Shape& shape) const;
  /// What a collective reads or writes from `offset` on.
  [[nodiscard]] Operand from(std::int64_t offset) const;
  /// The elements of `x` in this space; throws InvalidArgument, beginning with `what`, for a tensor
  /// that lies elsewhere.
  [[nodiscard]] FlatRange range_of(const Tensor& x, const char* what) const;
  /// Makes `x`, a dense f32 tensor, lie at `offset`, where its values are already. It stays the
  /// same tensor: hooks, gradient and what a tape knows of it hold.
  void hold(const Tensor& x, std::int64_t offset) const;
  /// Where the memory of the other ranks of this host lies for this process; empty unless it
  /// reaches all of them. `comm` is the one that it was made with.
  [[nodiscard]] std::vector<std::byte*> peers_on_host(const Communicator& comm) const;
  /// Takes the pages of what this rank will use, at once.
  void take_pages(FlatRange range) const;

 private:
  Ref<Storage> storage_;
  std::vector<std::byte*> peers_;  ///< by rank, see CommBuffer
};

}  // namespace tessera::dist
