#include <cstdint>

#include <tessera/core/tensor/half.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/simd/rows.h>

#include <tessera/kernels/cpu/simd/begin.h>
#include <tessera/kernels/cpu/simd/math.h>

#include <tessera/kernels/cpu/simd/columns.h>
#include <tessera/kernels/cpu/simd/online_sum.h>

namespace tessera::cpu::TESSERA_ISA {
namespace {

/// The sum of a row, in doubles where one of floats overflows.
template <class T>
double plain_sum(const T* x, std::int64_t columns) {
  VectorOf<T> lanes{};
  each_column<kLanesOf<T>>(
      columns, [&](std::int64_t j, std::int64_t w)
                   __attribute__((always_inline)) { lanes = lanes + load_up_to(x + j, w); });
  double total = sum(lanes);
  if (!__builtin_isfinite(total)) {
    total = 0;
    for (std::int64_t j = 0; j < columns; ++j) {
      total += static_cast<NumberOf<T>>(x[j]);
    }
  }
  return total;
}

template <class T>
RowStatisticsOf<NumberOf<T>> statistics(const void* x_in, std::int64_t columns, bool with_sum) {
  const T* x = static_cast<const T*>(x_in);
  const OnlineSum<T> online(x, columns);
  return {{online.top(), scalar_log(online.total())}, with_sum ? plain_sum(x, columns) : 0};
}

template <class T, class D>
void counted_gradient(const T* x, D* dx, std::int64_t columns,
                      const CrossEntropyRowOf<NumberOf<T>>& row) {
  const bool past = row.past_caches && is_aligned(dx);
  const VectorOf<T> top = set1(row.log_sum.top);
  const VectorOf<T> log_sum = set1(row.log_sum.log_sum);
  const VectorOf<T> spread = set1(row.spread);
  const VectorOf<T> factor = set1(row.factor);
  // Formed before its logit may be overwritten.
  const VectorOf<T> p =
      exp_of_difference((set1(static_cast<NumberOf<T>>(x[row.target])) - top) - log_sum);
  const NumberOf<T> at_target = (((p - spread) - set1(row.peak)) * factor)[0];
  each_column<kLanesOf<T>>(
      columns, [&](std::int64_t j, std::int64_t w) __attribute__((always_inline)) {
        fetch_far_ahead(x + j);
        write(dx + j, (exp_of_difference((load_up_to(x + j, w) - top) - log_sum) - spread) * factor,
              w, past);
      });
  if (past) {
    stream_end();
  }
  dx[row.target] = D(at_target);
}

template <class T, class D>
void gradient(const void* x_in, void* dx_out, std::int64_t columns,
              const CrossEntropyRowOf<NumberOf<T>>& row) {
  D* dx = static_cast<D*>(dx_out);
  if (row.factor != 0) {
    counted_gradient(static_cast<const T*>(x_in), dx, columns, row);
  } else {
    each_column<kLanesOf<T>>(
        columns, [&](std::int64_t j, std::int64_t w)
                     __attribute__((always_inline)) { store_up_to(dx + j, VectorOf<T>{}, w); });
  }
}

constexpr LossTable kLossTable{{statistics<float>, statistics<BFloat16>},
                               {{gradient<float, float>, gradient<float, BFloat16>},
                                {gradient<BFloat16, float>, gradient<BFloat16, BFloat16>}},
                               statistics<double>,
                               gradient<double, double>};

}  // namespace
}  // namespace tessera::cpu::TESSERA_ISA

#include <tessera/kernels/cpu/simd/end.h>

namespace tessera::cpu::TESSERA_ISA {
[[maybe_unused]] const bool kLossRowsAdded =
    IsaTable<LossTable>::add(Isa::TESSERA_ISA, &kLossTable);
}
