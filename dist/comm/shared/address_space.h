// How a rank finds the memory that another rank speaks of.
#pragma once

#include <cstddef>

#include <tessera/dist/comm/host_operand.h>
#include <tessera/dist/comm/shared/control_block.h>

namespace tessera::dist {

class AddressSpace {
 public:
  virtual ~AddressSpace() = default;
  /// Taken where what it describes stays in place for those who look at it, whoever lets go of it.
  [[nodiscard]] virtual Addresses addresses() const noexcept { return Addresses::taken; }
  /// The reference of [data, data + nbytes); private when peers cannot reach all of it.
  [[nodiscard]] virtual Reference describe(const void* data, std::size_t nbytes) const = 0;
  /// Where the referred memory lies for this rank. Throws CommError when it was released here.
  [[nodiscard]] virtual std::byte* resolve(const Reference&) const = 0;
};

/// Threads of one process: every address is everybody's.
class OneProcess final : public AddressSpace {
 public:
  [[nodiscard]] Addresses addresses() const noexcept override { return Addresses::copied; }
  [[nodiscard]] Reference describe(const void* data, std::size_t) const override {
    return {2, reinterpret_cast<std::uint64_t>(data)};
  }
  [[nodiscard]] std::byte* resolve(const Reference& reference) const override {
    return reinterpret_cast<std::byte*>(reference.offset);
  }
};

/// Nothing is shared but the control block, so every payload is staged.
class NothingShared final : public AddressSpace {
 public:
  [[nodiscard]] Reference describe(const void*, std::size_t) const override { return {}; }
  [[nodiscard]] std::byte* resolve(const Reference&) const override { return nullptr; }
};

}  // namespace tessera::dist
