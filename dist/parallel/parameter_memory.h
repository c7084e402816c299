// Flat memory for parameters and what belongs to them, shared by the ranks of a host.
#pragma once

#include <vector>

#include <tessera/core/device/memory_stats.h>
#include <tessera/dist/comm/communicator.h>
#include <tessera/dist/parallel/bucket_layout.h>

namespace tessera::dist {

/// Memory from `comm` (collective) that counts in the process's memory statistics: `nbytes` as
/// `category`, and behind them `rooms` bytes for communication.
[[nodiscard]] CommBuffer allocate_counted(Communicator& comm, std::size_t nbytes,
                                          MemoryCategory category, std::size_t rooms = 0);

/// Such a buffer, all of which this rank will use: its pages are taken at once.
[[nodiscard]] CommBuffer allocate_whole(Communicator& comm, std::size_t nbytes,
                                        MemoryCategory category, std::size_t rooms = 0);

/// A tensor of `slot`'s shape on f32 memory of `buffer`, `offset` elements from its start.
[[nodiscard]] Tensor tensor_at(const CommBuffer& buffer, std::int64_t offset, const Shape& shape);

/// Makes `x`, of f32, lie in `buffer`, `offset` elements from its start, where its values are
/// already. It stays the same tensor: hooks, gradient and what a tape knows of it hold.
void rest_on(const Tensor& x, const CommBuffer& buffer, std::int64_t offset);

/// Moves the parameters of `buckets` into `buffer`, at their offsets. Their tensors stay the same.
void move_parameters(const std::vector<Bucket>& buckets, const CommBuffer& buffer);

/// How the flat space of all parameters is dealt out among the ranks of a host: part r is
/// [borders[r], borders[r + 1]). Borders lie at multiples of kNormBlock within a parameter, so that
/// every block of a gradient norm is one rank's; a parameter that stays whole has none within.
[[nodiscard]] std::vector<std::int64_t> deal_out(const std::vector<Bucket>& buckets, int ranks);

}  // namespace tessera::dist
