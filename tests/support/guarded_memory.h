// The memory of the guarded device: who touched it last, and what nothing ordered.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "support/mapped_pages.h"
#include "support/vector_clock.h"

namespace tessera::test {

/// Not locked: the device is.
class GuardedMemory {
 public:
  struct Taken {
    MappedPages pages;
    Ticket free_from;
  };
  /// A block at least as long, rather one that was given back than a new one.
  [[nodiscard]] Taken take(int index, std::size_t nbytes);
  /// Gives it back: it may be taken at once, for work behind `ticket`.
  void give_back(const std::byte* address, int index, const Ticket& ticket);
  /// Unmaps what was given back. Nothing may be waiting to run.
  void trim();

  /// An access to these bytes by what knows `clock`: notes it, and a sentence for each access to
  /// some of them before that nothing orders before it. Without a ticket it is the host's, which is
  /// done when this returns.
  void read(std::span<const std::byte> bytes, const VectorClock& clock, const Ticket& ticket,
            const std::string& who);
  void write(std::span<const std::byte> bytes, const VectorClock& clock, const Ticket& ticket,
             const std::string& who);

  /// The work that a read of these bytes, or a write, must come after.
  [[nodiscard]] std::vector<Ticket> before(std::span<const std::byte> bytes, bool writes);

  /// The sentences, which are forgotten.
  [[nodiscard]] std::vector<std::string> take_reports();

 private:
  struct Access {
    std::span<const std::byte> bytes;
    Ticket ticket;
    std::string who;
  };
  struct Block {
    std::vector<Access> writes;  ///< that no later one covers
    std::vector<Access> reads;   ///< nor these
  };
  struct Free {
    MappedPages pages;
    Ticket from;
  };

  Block& block_at(const std::byte* address);
  void require_before(const std::vector<Access>& before, const Access& now,
                      const VectorClock& clock);

  std::map<const std::byte*, Block> blocks_;                             ///< by closed address
  std::map<std::pair<int, std::size_t>, std::vector<Free>> given_back_;  ///< by index and bytes
  std::vector<std::string> reports_;
};

}  // namespace tessera::test
