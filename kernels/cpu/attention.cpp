#include <tessera/kernels/cpu/attention.h>

#include <algorithm>

#include <tessera/core/device/thread_pool.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/simd/matrix/attention.h>

namespace tessera::cpu {
namespace {

std::size_t check_attention(const Attention& a) {
  check(a.dtype == DType::f32 || a.dtype == DType::bf16, "attention: dtype not supported; got ",
        a.dtype, ", expected f32 or bf16");
  check(a.key_heads > 0 && a.heads % a.key_heads == 0,
        "attention: heads must be a multiple of key heads; got ", a.heads, " and ", a.key_heads);
  return a.dtype == DType::bf16 ? 1 : 0;
}

}  // namespace

void attention_forward(const Attention& a) {
  const std::size_t dtype = check_attention(a);
  const auto run = IsaTable<AttentionTable>::get().forward[dtype];
  const std::int64_t tiles = (a.queries + kAttentionTile - 1) / kAttentionTile;
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
  const auto run = IsaTable<AttentionTable>::get().backward[check_attention(a)];
  parallel_for(a.batch * a.key_heads,
               [&](std::int64_t group) { run(g, group / a.key_heads, group % a.key_heads); });
}

}  // namespace tessera::cpu
