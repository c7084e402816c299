// Where the ranks of a group say what they are doing, so that a silent one can be named.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/dist/comm/communicator.h>
#include <tessera/dist/comm/health.h>

namespace tessera::dist {

/// A short text that one rank writes and others may read meanwhile: a torn text is harmless.
template <std::size_t kWords>
class SharedText {
 public:
  void store(std::string_view text) noexcept {
    for (std::size_t w = 0; w < kWords; ++w) {
      std::uint64_t word = 0;
      for (std::size_t b = 0; b < 8 && w * 8 + b < text.size(); ++b) {
        word |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[w * 8 + b])) << (8 * b);
      }
      words_[w].store(word, std::memory_order_relaxed);
      if (w * 8 >= text.size()) {
        break;  // the word of zeros ends the text
      }
    }
  }
  [[nodiscard]] std::string load() const { return characters().data(); }
  /// The text that was stored, ended by zeros, without memory from the heap: for handlers of
  /// signals.
  [[nodiscard]] std::array<char, 8 * kWords + 1> characters() const noexcept {
    std::array<char, 8 * kWords + 1> text{};
    for (std::size_t i = 0; i < 8 * kWords; ++i) {
      const std::uint64_t word = words_[i / 8].load(std::memory_order_relaxed);
      text[i] = static_cast<char>((word >> (8 * (i % 8))) & 0xff);
      if (text[i] == '\0') {
        break;  // what follows is of an older, longer text
      }
    }
    return text;
  }

 private:
  std::array<std::atomic<std::uint64_t>, kWords> words_{};
};

/// One rank's line in the table. Zero-filled memory is a rank that has done nothing yet.
struct alignas(128) HeartbeatCell {
  std::atomic<std::uint64_t> launched{0};   ///< collectives launched so far
  std::atomic<std::uint64_t> finished{0};   ///< all up to this one, as its watchdog last saw
  std::atomic<std::uint64_t> beats{0};      ///< grows while the rank's process lives
  std::atomic<std::uint64_t> elsewhere{0};  ///< milliseconds it has waited in another group so far
  std::atomic<std::uint32_t> busy{0};  ///< 1: the rank is in a BusyScope, as its watchdog last saw
  std::atomic<std::uint32_t> left{0};  ///< 1: the rank has let go of the group
  std::atomic<std::uint32_t> ended{
      0};  ///< 1: it is at the end of the program; the world's table says so
  static constexpr std::uint8_t kUnknown = 255;
  std::atomic<std::uint8_t> kind{0};  ///< of the last collective launched, a CollectiveKind
  SharedText<7> label;                ///< of the last collective launched
  SharedText<6> activity;             ///< what a busy rank does
};

/// The lines of a group's ranks, as this rank sees them.
class HeartbeatTable {
 public:
  /// `cells` are the lines of all ranks; they and `failure` live as long as `owner`.
  HeartbeatTable(HeartbeatCell* cells, FailureRecord& failure, int rank, int size,
                 std::shared_ptr<const void> owner);
  virtual ~HeartbeatTable() = default;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] HeartbeatCell& cell(int rank) const { return cells_[rank]; }
  [[nodiscard]] HeartbeatCell& own() const { return cells_[rank_]; }
  /// The group's first failure.
  [[nodiscard]] FailureRecord& failure() const { return *failure_; }
  /// Carries lines between hosts, where that takes messages. Called every now and then by a
  /// thread of its own; returns at once.
  virtual void exchange() {}
  /// True while ranks of other hosts are told through this one: `exchange` is wanted until then.
  [[nodiscard]] virtual bool carries() const { return false; }
  [[nodiscard]] bool all_left() const;
  /// The ranks that carry the line of `rank` to this one: while one of them is silent, `rank` seems
  /// silent too.
  [[nodiscard]] virtual std::vector<int> carriers(int /*rank*/) const { return {}; }
  /// False on all hosts but one, which is the first to say what is wrong.
  [[nodiscard]] virtual bool speaks_first() const { return true; }

 private:
  HeartbeatCell* cells_;
  FailureRecord* failure_;
  int rank_;
  int size_;
  std::shared_ptr<const void> owner_;
};

/// "it is at 16, broadcast 'weights'", the last collective that `cell`'s rank launched.
[[nodiscard]] std::string describe_position(const HeartbeatCell& cell);

}  // namespace tessera::dist
