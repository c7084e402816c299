// Operands of collectives for transports that read and write equal parts of the host's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tessera/dist/comm/collective.h>

namespace tessera::dist {

/// What a transport does with memory that is known by its address alone: whether it takes it, or
/// must have memory that can be kept, because other ranks may still touch it when the collective
/// has failed here.
enum class Addresses : std::uint8_t { taken, copied };

/// Whether such a transport can take the operands of `c` as they are, as it can nearly always.
[[nodiscard]] bool takes_as_given(const Collective& c, Addresses addresses) noexcept;

/// An operand as such a transport sees it: itself, or memory on the host in place of a device's, of
/// what is known by address alone, or of uneven parts, which lie padded there.
class HostOperand {
 public:
  /// What rank `rank` of `size` sends in `c`, and what it receives.
  [[nodiscard]] static HostOperand sent(const Collective& c, int rank, int size, Addresses);
  [[nodiscard]] static HostOperand received(const Collective& c, int rank, int size, Addresses);

  [[nodiscard]] const Operand& get() const noexcept { return host_; }
  /// Copies from the memory that was given, and to it. The work on it is done.
  void fetch() const;
  void give_back() const;

 private:
  /// Bytes that lie side by side in both.
  struct Run {
    std::size_t given = 0;
    std::size_t host = 0;
    std::size_t nbytes = 0;
  };
  /// What an operand consists of, padded.
  struct Contents {
    std::size_t elements;
    bool own_part;  ///< of uneven ones the rank's alone, not all of them `blocks` times
    int rank, blocks;
    Addresses addresses;
  };
  HostOperand(const Collective& c, const Operand& given, const Contents& contents);

  Operand given_, host_;
  std::vector<Run> runs_;  ///< of a copy
};

}  // namespace tessera::dist
