#include <tessera/kernels/cpu/gemm_small.h>

#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/scratch.h>
#include <tessera/kernels/cpu/simd/matrix/product.h>

namespace tessera::cpu {
namespace {

constexpr std::int64_t kMultiplyAdds = std::int64_t{1} << 18;  // ~2 us

bool is_plain(const Gemm& g) {
  return g.a.dtype == DType::f32 && g.b.dtype == DType::f32 && g.c_dtype == DType::f32 &&
         g.compute == DType::f32 && g.cuts == 1 && (g.chunk == 0 || g.k <= g.chunk) &&
         !g.accumulate;
}

bool is_small(const Gemm& g, const ProductKernel& kernel) {
  return g.m * g.n * g.k < kMultiplyAdds && g.n % kernel.columns == 0 &&
         (g.b.column_stride == 1 || g.b.row_stride == 1);
}

/// With B as it lies where its rows are contiguous; else a panel of it at a time is packed, which
/// stays in the first cache.
void multiply(const Gemm& g, const ProductTable& table) {
  const ProductKernel& kernel = table.f32;
  SmallProduct p{.m = g.m, .n = g.n, .k = g.k};
  p.a = static_cast<const float*>(g.a.data);
  p.a_row = g.a.row_stride, p.a_step = g.a.column_stride;
  p.b = static_cast<const float*>(g.b.data);
  p.b_step = g.b.row_stride, p.b_panel = kernel.columns;
  p.c = static_cast<float*>(g.c), p.c_stride = g.c_stride;
  if (g.b.column_stride == 1) {
    table.small(p);
    return;
  }
  auto* packed = scratch_array<std::uint32_t>(Scratch::panels, kernel.columns * g.k);
  PackBlock block{.data = g.b.data,
                  .dtype = g.b.dtype,
                  .width_stride = g.b.column_stride,
                  .depth_stride = g.b.row_stride,
                  .width = kernel.columns,
                  .depth = g.k};
  p.n = kernel.columns;
  p.b = reinterpret_cast<const float*>(packed);
  p.b_step = kernel.columns;
  for (std::int64_t j = 0; j < g.n; j += kernel.columns) {
    kernel.pack_columns(block, packed);
    table.small(p);
    block.data = static_cast<const float*>(block.data) + kernel.columns * g.b.column_stride;
    p.c += kernel.columns;
  }
}

}  // namespace

bool gemm_small(const Gemm& g) {
  const ProductTable& table = IsaTable<ProductTable>::get();
  if (!is_plain(g) || !is_small(g, table.f32)) {
    return false;
  }
  multiply(g, table);
  if (g.bias != nullptr) {
    table.finish({.sums = static_cast<const float*>(g.c),
                  .stride = g.c_stride,
                  .rows = g.m,
                  .columns = g.n,
                  .bias = static_cast<const float*>(g.bias),
                  .c = g.c,
                  .c_dtype = DType::f32,
                  .c_stride = g.c_stride});
  }
  return true;
}

}  // namespace tessera::cpu
