// Serial attention kernels, as each instruction set has them.
#pragma once

#include <cstdint>

#include <tessera/kernels/cpu/attention.h>

namespace tessera::cpu {

inline constexpr std::int64_t kAttentionTile = 64;

struct AttentionTable {
  /// Query tiles part, part + parts, ... of all heads that share a key head. Index: kind_index.
  void (*forward[3])(const Attention&, std::int64_t batch, std::int64_t key_head, std::int64_t part,
                     std::int64_t parts);
  void (*backward[3])(const AttentionGradient&, std::int64_t batch, std::int64_t key_head);
  /// What `backward` gives, bit for bit, in tasks of one tile of keys, for dk and dv, or of
  /// queries, for dq.
  void (*backward_of_keys[3])(const AttentionGradient&, std::int64_t batch, std::int64_t key_head,
                              std::int64_t tile);
  void (*backward_of_queries[3])(const AttentionGradient&, std::int64_t batch,
                                 std::int64_t key_head, std::int64_t tile);
};

}  // namespace tessera::cpu
