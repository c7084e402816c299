// The memory through which ranks of one address space or one host meet: flags, descriptions of
// collectives, staging room. It lies on the heap for threads and in a shared segment for processes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tessera/dist/comm/health.h>
#include <tessera/dist/comm/heartbeat_table.h>
#include <tessera/dist/comm/signature.h>

namespace tessera::dist {

/// Memory as another rank can find it. `segment` 0: private memory, which only its owner reaches.
struct Reference {
  std::uint64_t segment = 0;
  std::uint64_t offset = 0;
};

/// Stands for memory that nobody reads or writes.
inline constexpr Reference kNothing{1, 0};

inline constexpr std::size_t kInlineBytes = 4096;
inline constexpr std::size_t kStagingBytes = 256 * 1024;
inline constexpr std::size_t kMailBytes = 64 * 1024;
inline constexpr int kMailPieces = 2;

/// What a rank says about the collective it launched; payloads up to kInlineBytes travel along. A
/// small one comes to a peer with the number that the peer waits for: in one cache line.
struct alignas(128) Descriptor {
  std::atomic<std::uint64_t> number{0};  ///< of the collective; written last
  std::uint64_t digest;                  ///< of the signature
  std::byte data[kInlineBytes];
  Signature signature;
  Reference send;
  Reference receive;
};

/// Counts a rank's steps after its descriptors: `phase` n means that all before step n is visible.
struct alignas(128) Flag {
  std::atomic<std::uint64_t> phase{0};
};

/// How the last barrier ended: for all of its ranks alike, though one of them may hear of a failure
/// while another comes to the barrier.
class alignas(128) BarrierEnd {
 public:
  /// Whether barrier `number` ends well. It is what the first rank that asks says, which saw all
  /// ranks there (`well`) or gives up.
  bool decide(std::uint64_t number, bool well);

 private:
  std::atomic<std::uint64_t> last_{0};  ///< twice the number of a barrier; one more: given up
};

/// One direction between two ranks: a ring of two pieces.
struct Mailbox {
  alignas(64) std::atomic<std::uint64_t> written{0};
  alignas(64) std::atomic<std::uint64_t> taken{0};
  Signature signature[kMailPieces];
  alignas(64) std::byte data[kMailPieces][kMailBytes];
};

/// View of the control block of a group: `members` ranks share it, of a group of `ranks`.
/// Zero-filled memory is a valid block at rest.
class ControlBlock {
 public:
  ControlBlock() = default;
  ControlBlock(std::byte* memory, int members, int ranks);

  [[nodiscard]] static std::size_t bytes(int members, int ranks);
  /// Whether all members' flags have come to `phase`.
  [[nodiscard]] bool all_at(std::uint64_t phase) const;

  [[nodiscard]] FailureRecord& failure() const { return *reinterpret_cast<FailureRecord*>(base_); }
  [[nodiscard]] HeartbeatCell& heartbeat(int rank) const { return heartbeats_[rank]; }
  [[nodiscard]] BarrierEnd& barrier_end() const { return *barrier_end_; }
  [[nodiscard]] Flag& flag(int member) const { return flags_[member]; }
  /// Two alternate: a rank that posts collective n + 2 has seen every rank post n + 1, which
  /// they do after reading the descriptors of n.
  [[nodiscard]] Descriptor& descriptor(int member, std::uint64_t sequence) const {
    return descriptors_[static_cast<std::uint64_t>(member) * 2 + sequence % 2];
  }
  [[nodiscard]] std::byte* staging(int member, std::uint64_t parity) const {
    return staging_ + (static_cast<std::uint64_t>(member) * 2 + parity % 2) * kStagingBytes;
  }
  [[nodiscard]] Mailbox& mailbox(int from, int to) const { return mail_[from * members_ + to]; }
  [[nodiscard]] int members() const { return members_; }

 private:
  /// Lays the areas out and returns their size.
  std::size_t carve(std::byte* memory, int members, int ranks);

  std::byte* base_ = nullptr;
  int members_ = 0;
  HeartbeatCell* heartbeats_ = nullptr;
  BarrierEnd* barrier_end_ = nullptr;
  Flag* flags_ = nullptr;
  Descriptor* descriptors_ = nullptr;
  std::byte* staging_ = nullptr;
  Mailbox* mail_ = nullptr;
};

}  // namespace tessera::dist
