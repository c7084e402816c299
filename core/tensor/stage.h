// What a call goes through before a kernel runs, as bits that tensors carry.
#pragma once

#include <bit>
#include <cstdint>

namespace tessera {

/// The stages of the call pipeline, in their order: core/dispatch/call.h.
enum class Stage : std::uint8_t {
  count,   ///< an input is a loss that counted its elements: core/autograd/loss_counts.h
  split,   ///< an input holds several microbatches: core/split/split_stage.cpp
  record,  ///< an input may be on the tape: core/autograd/record_stage.cpp
};

inline constexpr int kStageCount = 3;

/// A set of stages.
class Stages {
 public:
  constexpr Stages() = default;
  static constexpr Stages all() noexcept { return Stages((1U << kStageCount) - 1U); }

  [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
  [[nodiscard]] constexpr bool has(Stage stage) const noexcept { return (bits_ & bit(stage)) != 0; }
  constexpr void set(Stage stage, bool on) noexcept {
    bits_ = static_cast<std::uint8_t>(on ? bits_ | bit(stage) : bits_ & ~bit(stage));
  }
  /// Takes the first stage out of a set that is not empty.
  constexpr Stage take_first() noexcept {
    const int first = std::countr_zero(bits_);
    bits_ = static_cast<std::uint8_t>(bits_ & (bits_ - 1U));
    return static_cast<Stage>(first);
  }
  constexpr Stages& operator|=(Stages other) noexcept {
    bits_ |= other.bits_;
    return *this;
  }
  constexpr Stages& operator&=(Stages other) noexcept {
    bits_ &= other.bits_;
    return *this;
  }

 private:
  explicit constexpr Stages(unsigned bits) noexcept : bits_(static_cast<std::uint8_t>(bits)) {}
  static constexpr unsigned bit(Stage stage) noexcept { return 1U << static_cast<unsigned>(stage); }

  std::uint8_t bits_ = 0;
};

}  // namespace tessera
