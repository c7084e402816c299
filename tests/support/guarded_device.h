// A device whose memory the host cannot touch and whose work comes late: what runs on it and gives
// the CPU's bits is written for any device.
//
// It runs the CPU's kernels, fast and reference ones, on memory that is mapped thrice: tensors
// carry the closed address, a kernel's operands the read-only or the writable one. Its streams run
// late, in an order drawn from a seed, and vector clocks know what is ordered before what, so that
// an access that nothing orders is reported whatever the order was.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tessera/core/device/device.h>

namespace tessera::test {

/// One of the four devices of type "guarded".
[[nodiscard]] Device guarded_device(int index = 0);

/// Seeds of so many orders of work, or a sample of `few` of them (support/sweep.h); another salt
/// gives others.
[[nodiscard]] std::vector<std::uint64_t> orders(int all, int few, unsigned salt = 0);

/// A run on guarded devices. One at a time in a process.
class GuardedRun {
 public:
  /// Draws the order of work from `seed`. The wait with number `ignored`, counted from 0, is not
  /// done: one sees then that the clocks miss it.
  explicit GuardedRun(std::uint64_t seed, std::optional<std::size_t> ignored = {});
  /// Runs what waits, and forgets errors.
  ~GuardedRun();
  GuardedRun(const GuardedRun&) = delete;
  GuardedRun& operator=(const GuardedRun&) = delete;

  /// Runs what waits; a sentence for each access since the last call that nothing ordered.
  [[nodiscard]] std::vector<std::string> reports();
  /// The waits of the run so far that ordered what was not ordered before: of streams and of the
  /// host, which also waits where it asks for a ticket until that is reached and then touches what
  /// the work before it did.
  [[nodiscard]] std::size_t waits() const;
};

}  // namespace tessera::test
