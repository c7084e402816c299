#include <tessera/kernels/cpu/peak.h>

#include <tessera/core/tensor/peak.h>
#include <tessera/kernels/cpu/isa.h>

namespace tessera::cpu {
namespace {

double flop_loop(DType compute, std::int64_t rounds) {
  const PeakTable& table = IsaTable<PeakTable>::get();
  switch (compute) {
    case DType::f32:
      return table.f32(rounds);
    case DType::bf16:
      return table.bf16(rounds);
    default:
      return 0;
  }
}

[[maybe_unused]] const bool kAdded = tessera::detail::set_flop_loop(flop_loop);

}  // namespace
}  // namespace tessera::cpu
