// What is demanded of a collective before anything is started.
#pragma once

#include <cstddef>

#include <tessera/dist/comm/collective.h>

namespace tessera::dist {

/// Throws InvalidArgument for a collective that cannot be meant in a group of `size` ranks: missing
/// or too little memory, of another dtype, operands that overlap in part, a peer outside the group,
/// a tree of other ranks, counts that do not fit, a reduction its dtype lacks.
void validate(const Collective& collective, int rank, int size);

/// Elements that this rank's `send` holds, and `receive` holds afterwards, uneven parts as given.
[[nodiscard]] std::size_t given_count(const Collective& collective, int rank, int size);
[[nodiscard]] std::size_t taken_count(const Collective& collective, int size);

/// Elements that this rank's `send` holds where parts are equal.
[[nodiscard]] std::size_t send_count(const Collective& collective, int rank, int size);
/// Elements that this rank's `receive` holds afterwards where parts are equal.
[[nodiscard]] std::size_t receive_count(const Collective& collective, int size);

/// Blocks of this rank in the collective's tree; 1 without a tree.
[[nodiscard]] int blocks_of(const Collective& collective, int rank);

[[nodiscard]] constexpr bool is_point_to_point(CollectiveKind kind) noexcept {
  return kind == CollectiveKind::send || kind == CollectiveKind::receive;
}
[[nodiscard]] constexpr bool is_reduction(CollectiveKind kind) noexcept {
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter;
}

}  // namespace tessera::dist
