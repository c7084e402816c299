#include <tessera/kernels/cpu/elementwise.h>

#include <tessera/kernels/cpu/dtype_index.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/ranges.h>
#include <tessera/kernels/cpu/simd/elementwise.h>

namespace tessera::cpu {
namespace {

const char* at(const void* p, std::int64_t i, DType dtype) {
  return static_cast<const char*>(p) + i * static_cast<std::int64_t>(size_of(dtype));
}
char* at(void* p, std::int64_t i, DType dtype) {
  return static_cast<char*>(p) + i * static_cast<std::int64_t>(size_of(dtype));
}

}  // namespace

void map(Unary f, DType dtype, const void* x, void* y, std::int64_t count) {
  const auto run = IsaTable<ElementwiseTable>::get().unary[kind_index(dtype)][static_cast<int>(f)];
  for_ranges(count, kElementwiseStep,
             [&](std::int64_t i, std::int64_t n) { run(at(x, i, dtype), at(y, i, dtype), n); });
}

void map_backward(UnaryBackward f, DType dtype, const void* x, const void* g, void* y,
                  std::int64_t count) {
  const auto run =
      IsaTable<ElementwiseTable>::get().backward[kind_index(dtype)][static_cast<int>(f)];
  for_ranges(count, kElementwiseStep, [&](std::int64_t i, std::int64_t n) {
    run(at(x, i, dtype), at(g, i, dtype), at(y, i, dtype), n);
  });
}

void map(Binary f, DType dtype, const void* a, const void* b, void* y, std::int64_t count) {
  const auto run = IsaTable<ElementwiseTable>::get().binary[kind_index(dtype)][static_cast<int>(f)];
  for_ranges(count, kElementwiseStep, [&](std::int64_t i, std::int64_t n) {
    run(at(a, i, dtype), at(b, i, dtype), at(y, i, dtype), n);
  });
}

void map_mixed(Binary f, const float* a, const BFloat16* b, float* y, std::int64_t count) {
  const auto run = IsaTable<ElementwiseTable>::get().mixed[static_cast<int>(f)];
  for_ranges(count, kElementwiseStep,
             [&](std::int64_t i, std::int64_t n) { run(a + i, b + i, y + i, n); });
}

void map_rows(Binary f, DType dtype, const void* a, const void* b, void* y, std::int64_t rows,
              std::int64_t columns) {
  const auto run = IsaTable<ElementwiseTable>::get().binary[kind_index(dtype)][static_cast<int>(f)];
  for_ranges(rows, rows_per_task(columns), [&](std::int64_t first, std::int64_t n) {
    for (std::int64_t r = first; r < first + n; ++r) {
      run(at(a, r * columns, dtype), b, at(y, r * columns, dtype), columns);
    }
  });
}

void map_planes(Binary f, DType dtype, const void* a, const void* b, void* y, std::int64_t planes,
                std::int64_t columns, std::int64_t period) {
  const auto run = IsaTable<ElementwiseTable>::get().scalar[kind_index(dtype)][static_cast<int>(f)];
  const auto number = [&](std::int64_t i) -> double {
    return dtype == DType::f64    ? static_cast<const double*>(b)[i]
           : dtype == DType::bf16 ? double{static_cast<float>(static_cast<const BFloat16*>(b)[i])}
                                  : double{static_cast<const float*>(b)[i]};
  };
  for_ranges(planes, rows_per_task(columns), [&](std::int64_t first, std::int64_t n) {
    for (std::int64_t p = first; p < first + n; ++p) {
      run(at(a, p * columns, dtype), number(p % period), at(y, p * columns, dtype), columns);
    }
  });
}

void map_scalar(Binary f, DType dtype, const void* a, double b, void* y, std::int64_t count) {
  const auto run = IsaTable<ElementwiseTable>::get().scalar[kind_index(dtype)][static_cast<int>(f)];
  for_ranges(count, kElementwiseStep,
             [&](std::int64_t i, std::int64_t n) { run(at(a, i, dtype), b, at(y, i, dtype), n); });
}

void map(Parametric f, const Parameters& p, DType dtype, const void* x, void* y,
         std::int64_t count) {
  const auto& table = IsaTable<ElementwiseTable>::get();
  const auto run = table.parametric[kind_index(dtype)][static_cast<int>(f)];
  for_ranges(count, kElementwiseStep,
             [&](std::int64_t i, std::int64_t n) { run(at(x, i, dtype), p, at(y, i, dtype), n); });
}

void cast(DType from, const void* x, DType to, void* y, std::int64_t count) {
  const ElementwiseTable& table = IsaTable<ElementwiseTable>::get();
  check<Unsupported>(from != to && dtype_index(from) + dtype_index(to) == 1, "cast kernel: got ",
                     from, " to ", to, ", expected f32 and bf16");
  const auto run = to == DType::bf16 ? table.to_bf16 : table.to_f32;
  for_ranges(count, kElementwiseStep,
             [&](std::int64_t i, std::int64_t n) { run(at(x, i, from), at(y, i, to), n); });
}

}  // namespace tessera::cpu
