#include <tessera/kernels/cpu/attention.h>

#include <algorithm>

#include <tessera/core/device/thread_pool.h>
#include <tessera/kernels/cpu/dtype_index.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/simd/matrix/attention.h>

namespace tessera::cpu {
namespace {

std::size_t check_attention(const Attention& a) {
  check(a.dtype == DType::f32 || a.dtype == DType::bf16 || a.dtype == DType::f64,
        "attention: dtype not supported; got ", a.dtype, ", expected f32, bf16 or f64");
  check(a.key_heads > 0 && a.heads % a.key_heads == 0,
        "attention: heads must be a multiple of key heads; got ", a.heads, " and ", a.key_heads);
  return kind_index(a.dtype);
}

std::int64_t tiles_of(std::int64_t length) {
  return (length + kAttentionTile - 1) / kAttentionTile;
}

/// Tiles as tasks cost seven products of tiles where heads as tasks cost five, and keep more
/// threads busy. The bits are the same.
bool gains_from_tiles(std::int64_t groups) {
  const std::int64_t threads = num_threads();
  const std::int64_t rounds = (groups + threads - 1) / threads;
  return 7 * groups < 5 * threads * rounds;
}

}  // namespace

void attention_forward(const Attention& a) {
  const std::size_t dtype = check_attention(a);
  const auto run = IsaTable<AttentionTable>::get().forward[dtype];
  const std::int64_t tiles = tiles_of(a.queries);
  const std::int64_t groups = a.batch * a.key_heads;
  // Keys are packed once a task; few heads are cut into several tasks all the same.
  constexpr std::int64_t kTasks = 32;
  const std::int64_t parts = std::clamp<std::int64_t>(groups == 0 ? 1 : kTasks / groups, 1,
                                                      std::max<std::int64_t>(1, tiles));
  parallel_for(groups * parts, [&](std::int64_t task) {
    const std::int64_t group = task / parts;
    run(a, group / a.key_heads, group % a.key_heads, task % parts, parts);
  });
}

void attention_backward(const AttentionGradient& g) {
  const Attention& a = g.forward;
  const std::size_t dtype = check_attention(a);
  const auto& table = IsaTable<AttentionTable>::get();
  const std::int64_t groups = a.batch * a.key_heads;
  if (!gains_from_tiles(groups)) {
    parallel_for(groups, [&](std::int64_t group) {
      table.backward[dtype](g, group / a.key_heads, group % a.key_heads);
    });
    return;
  }
  const std::int64_t key_tiles = tiles_of(a.keys);
  const std::int64_t tiles = key_tiles + tiles_of(a.queries);
  parallel_for(groups * tiles, [&](std::int64_t task) {
    const std::int64_t group = task / tiles;
    const std::int64_t tile = task % tiles;
    if (tile < key_tiles) {
      table.backward_of_keys[dtype](g, group / a.key_heads, group % a.key_heads, tile);
    } else {
      table.backward_of_queries[dtype](g, group / a.key_heads, group % a.key_heads,
                                       tile - key_tiles);
    }
  });
}

}  // namespace tessera::cpu
