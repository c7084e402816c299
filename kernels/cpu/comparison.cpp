#include <tessera/kernels/cpu/comparison.h>

#include <tessera/kernels/cpu/dtype_index.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/ranges.h>
#include <tessera/kernels/cpu/simd/comparison.h>

namespace tessera::cpu {
namespace {

const char* at(const void* p, std::int64_t i, std::int64_t size) {
  return static_cast<const char*>(p) + i * size;
}

}  // namespace

void compare(Comparison f, DType dtype, const void* a, const void* b, bool* y, std::int64_t count) {
  const auto run = IsaTable<ComparisonTable>::get().arrays[kind_index(dtype)][static_cast<int>(f)];
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  for_ranges(count, kElementwiseStep, [&](std::int64_t i, std::int64_t n) {
    run(at(a, i, size), at(b, i, size), y + i, n);
  });
}

void compare_with(Comparison f, DType dtype, const void* a, double b, bool* y, std::int64_t count) {
  const auto run = IsaTable<ComparisonTable>::get().number[kind_index(dtype)][static_cast<int>(f)];
  const auto size = static_cast<std::int64_t>(size_of(dtype));
  for_ranges(count, kElementwiseStep,
             [&](std::int64_t i, std::int64_t n) { run(at(a, i, size), b, y + i, n); });
}

void choose(std::int64_t size, const bool* condition, Choice a, Choice b, void* y,
            std::int64_t count) {
  const auto run =
      IsaTable<ComparisonTable>::get().choose[size == 2   ? 1
                                              : size == 8 ? 2
                                                          : 0][a.step == 0][b.step == 0];
  for_ranges(count, kElementwiseStep, [&](std::int64_t i, std::int64_t n) {
    run(condition + i, at(a.data, i * a.step, size), at(b.data, i * b.step, size),
        static_cast<char*>(y) + i * size, n);
  });
}

}  // namespace tessera::cpu
