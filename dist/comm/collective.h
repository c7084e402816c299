// A collective as a value: what to do with which memory, and nothing about how.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <tessera/core/tensor/array_loops.h>
#include <tessera/core/tensor/dtype.h>
#include <tessera/core/tensor/tensor.h>
#include <tessera/dist/reduce/tree.h>

namespace tessera::dist {

enum class CollectiveKind : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  send,
  receive,
  barrier,
};

using tessera::ReduceOp;

/// Memory that a collective reads or writes: of a storage, which it keeps alive, or known by its
/// address alone, which costs next to nothing beside a small message. False where there is none.
class Operand {
 public:
  Operand() = default;
  /// The elements of a dense tensor, on any device. Throws InvalidArgument for another one.
  explicit Operand(const Tensor& x);
  /// The bytes of a storage from `offset` on; none where it is null.
  explicit Operand(Ref<Storage> storage, std::size_t offset = 0) noexcept;
  /// Memory of the host's that `owner` keeps alive, or the caller; `nbytes` where they are known.
  /// An owner may not hold the communicator, which would then end within its own work.
  explicit Operand(const void* data, std::size_t nbytes = kUnknown) noexcept
      : data_(static_cast<std::byte*>(const_cast<void*>(data))), nbytes_(nbytes) {}
  Operand(const void* data, std::size_t nbytes, std::shared_ptr<const void> owner);
  static constexpr std::size_t kUnknown = std::numeric_limits<std::size_t>::max();

  /// The first byte, which is the device's.
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t nbytes() const noexcept { return nbytes_; }
  [[nodiscard]] Device device() const noexcept { return storage_ ? storage_->device() : Device{}; }
  /// Null for memory that is known by address alone.
  [[nodiscard]] const Ref<Storage>& storage() const noexcept { return storage_; }
  /// The dtype of a tensor's elements; none for other memory.
  [[nodiscard]] const std::optional<DType>& dtype() const noexcept { return dtype_; }

  explicit operator bool() const noexcept { return storage_ || data_ != nullptr; }
  friend bool operator==(const Operand& a, const Operand& b) noexcept { return a.data_ == b.data_; }

 private:
  Ref<Storage> storage_;
  std::byte* data_ = nullptr;
  std::size_t nbytes_ = 0;
  std::optional<DType> dtype_;
};

/// What one rank contributes to a collective and receives from it. A collective begins after the
/// work on its operands that was launched before it, and what is launched on their storages later
/// comes after it, on any stream. A write counts as one for autograd (one to a whole bucket not for
/// the tensors in it, whose versions are their own: nn and dist count those). Whoever reads what a
/// collective was to write gets its error where it failed; such a tensor is to be made anew. Memory
/// that is known by address alone must not be touched before the returned Work is done, nor be
/// freed after it failed: another host may still write to it. All other memory outlives that.
///
/// | kind | send holds | receive holds afterwards |
/// |---|---|---|
/// | all_reduce | count elements | count: the reduction over ranks |
/// | all_gather | count | size * count, in rank order |
/// | reduce_scatter | size * count | count: this rank's part of the reduction |
/// | all_to_all | size * count | size * count: part r from rank r |
/// | broadcast | count on `peer` | count, equal on all ranks |
/// | send / receive | count / nothing | nothing / count |
/// | barrier | nothing | nothing |
///
/// Equal operands mean in place; so does a rank's own part of what is gathered or scattered. Other
/// overlaps are refused. Sums are taken along the balanced binary tree over ranks, in
/// f32 for f16, bf16 and f32, so that the bits depend neither on the backend nor on timing.
struct Collective {
  CollectiveKind kind = CollectiveKind::barrier;
  ReduceOp reduce = ReduceOp::sum;
  DType dtype = DType::f32;
  Operand send;
  Operand receive;
  std::size_t count = 0;  ///< elements, see the table
  /// all_gather and reduce_scatter: elements of each rank's part, where these are uneven; `count`
  /// is this rank's then. Padding, if a transport needs any, is its own.
  std::vector<std::size_t> counts{};
  int peer = -1;               ///< root of a broadcast, partner of a send or receive
  std::uint64_t sequence = 0;  ///< number of the call in its group, set by the communicator
  std::string label{};         ///< parameter or bucket, for errors and traces
  /// all_reduce and reduce_scatter: the order of the sum, null for one block a rank. With a tree
  /// of b blocks on this rank, `send` holds b consecutive blocks, each as the table says.
  std::shared_ptr<const ReductionTree> tree{};
};

[[nodiscard]] const char* to_string(CollectiveKind) noexcept;
std::ostream& operator<<(std::ostream&, CollectiveKind);

}  // namespace tessera::dist
