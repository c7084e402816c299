// Which window of the data a sample of training is.
#pragma once

#include <cstdint>
#include <string_view>

namespace tessera::data {

enum class Order : std::uint8_t {
  sequential,  ///< windows one after another, from the start again after the last whole one
  shuffled,    ///< each epoch has every window once, in an order of its own
};

[[nodiscard]] std::string_view to_string(Order) noexcept;
/// Inverse of `to_string`. Throws InvalidArgument for anything else.
[[nodiscard]] Order parse_order(std::string_view);

/// The window of global sample `sample`, counted from the start of training, among `windows`. A
/// function of (seed, epoch, sample) alone: any rank computes any sample, and resuming needs no
/// other state than the number of samples seen.
[[nodiscard]] std::int64_t window_of(Order order, std::uint64_t seed, std::int64_t windows,
                                     std::int64_t sample);

}  // namespace tessera::data
