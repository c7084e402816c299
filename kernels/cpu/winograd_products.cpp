#include <tessera/kernels/cpu/winograd_products.h>

#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/scratch.h>

namespace tessera::cpu {

// A line more between positions: they would fall on the same sets of the caches.
WinogradProducts::WinogradProducts(SmallProduct first, std::int64_t a_step, std::int64_t b_step)
    : width(first.n), step(first.m * first.n + 16) {
  const ProductTable& table = IsaTable<ProductTable>::get();
  data = scratch_array<float>(Scratch::tiles, kWinogradPositions * step);
  first.b_panel = table.f32.columns;
  first.c = data, first.c_stride = width;
  for (std::int64_t position = 0; position < kWinogradPositions; ++position) {
    table.small(first);
    first.a += a_step, first.b += b_step, first.c += step;
  }
}

}  // namespace tessera::cpu
