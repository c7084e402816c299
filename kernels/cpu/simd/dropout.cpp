#include <tessera/kernels/cpu/simd/dropout.h>

#include <cstdint>
#include <cstring>

#include <tessera/core/tensor/half.h>
#include <tessera/kernels/cpu/isa.h>

#include <tessera/kernels/cpu/simd/begin.h>
#include <tessera/kernels/cpu/simd/math.h>

#include <tessera/kernels/cpu/simd/columns.h>
#include <tessera/kernels/cpu/simd/philox.h>

namespace tessera::cpu::TESSERA_ISA {
namespace {

template <class T>
void run(const void* x_in, void* y_out, std::int64_t count, const DropoutStream& stream,
         std::uint64_t first) {
  constexpr int kAtOnce = 4 * kLanes;
  const T* x = static_cast<const T*>(x_in);
  T* y = static_cast<T*>(y_out);
  const auto scale = all<VectorOf<T>>(stream.scale);
  KeptElements<kAtOnce> kept;
  for (std::int64_t i = 0; i < count; i += kAtOnce) {
    const std::int64_t now = count - i < kAtOnce ? count - i : kAtOnce;
    kept.draw(stream, first + static_cast<std::uint64_t>(i), now);
    each_column<kLanesOf<T>>(
        now, [&](std::int64_t j, std::int64_t w) __attribute__((always_inline)) {
          store_up_to(y + i + j, kept.select(stream, j, load_up_to(x + i + j, w) * scale), w);
        });
  }
}

constexpr DropoutTable kDropoutTable{{run<float>, run<BFloat16>, run<double>}};

}  // namespace
}  // namespace tessera::cpu::TESSERA_ISA

#include <tessera/kernels/cpu/simd/end.h>

namespace tessera::cpu::TESSERA_ISA {
[[maybe_unused]] const bool kDropoutAdded =
    IsaTable<DropoutTable>::add(Isa::TESSERA_ISA, &kDropoutTable);
}
