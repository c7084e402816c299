#include <gtest/gtest.h>

#include <tessera/core/tensor/peak.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/peak.h>

namespace tessera {
namespace {

TEST(Peak, is_known_for_the_types_that_products_are_computed_in) {
  EXPECT_GT(peak_flops(DType::f32, 1), 1e8);
  EXPECT_GT(peak_flops(DType::bf16, 1), 1e8);
  EXPECT_GT(peak_flops(DType::f32, 2), 1e8);
  EXPECT_EQ(peak_flops(DType::i32, 1), 0);
  EXPECT_EQ(peak_flops(DType::f32, 0), 0);
}

TEST(Peak, never_falls) {
  double last = 0;
  for (int i = 0; i < 10; ++i) {
    const double peak = peak_flops(DType::f32, 1);
    EXPECT_GE(peak, last);
    last = peak;
  }
}

/// Of a round whose f32 loop has `f32` of them.
double operations_of_bf16(cpu::Isa isa, double f32) {
  constexpr double kTiles = 4, kRows = 16, kColumns = 16, kDepth = 32;
  if (isa == cpu::Isa::amx_bf16) {
    return kTiles * 2 * kRows * kColumns * kDepth;
  }
  return isa == cpu::Isa::avx512_bf16 ? 2 * f32 : f32;
}

TEST(Peak, loops_count_two_operations_for_each_multiply_add) {
  for (const cpu::Isa isa : cpu::supported_isas()) {
    cpu::set_active_isa(isa);
    const cpu::PeakTable& table = cpu::IsaTable<cpu::PeakTable>::get();
    EXPECT_EQ(table.f32(20), 20 * table.f32(1)) << to_string(isa);
    EXPECT_EQ(table.bf16(1), operations_of_bf16(isa, table.f32(1))) << to_string(isa);
  }
  cpu::set_active_isa(cpu::best_isa());
}

}  // namespace
}  // namespace tessera
