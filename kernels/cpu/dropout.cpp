#include <tessera/kernels/cpu/dropout.h>

#include <algorithm>

#include <tessera/core/ops/support/dropout_mask.h>
#include <tessera/kernels/cpu/dtype_index.h>
#include <tessera/kernels/cpu/isa.h>
#include <tessera/kernels/cpu/ranges.h>
#include <tessera/kernels/cpu/simd/dropout.h>

namespace tessera::cpu {

DropoutDraw::DropoutDraw(double p, std::uint64_t key_in, std::int64_t first)
    : drops(p > 0), key(key_in), first_sample(first) {
  const DropoutMask mask(p, key);
  threshold = mask.threshold;
  scale = mask.scale;
}

DropoutStream DropoutDraw::stream(std::int64_t i) const {
  return {mix(key, static_cast<std::uint64_t>(first_sample + i)), threshold, scale};
}

void dropout_runs(const DropoutRuns& d) {
  const auto run = IsaTable<DropoutTable>::get().run[kind_index(d.dtype)];
  const auto bytes = static_cast<std::int64_t>(size_of(d.dtype));
  constexpr std::int64_t kStep = 16384;
  for_ranges(d.parts * d.runs * d.run, kStep, [&](std::int64_t first, std::int64_t count) {
    const std::int64_t end = first + count;
    for (std::int64_t i = first; i < end;) {
      const std::int64_t number = i / d.run;
      const std::int64_t sample = number / d.runs * d.samples + number % d.runs;
      const std::int64_t here = std::min(end, (number + 1) * d.run) - i;
      run(static_cast<const char*>(d.x) + i * bytes, static_cast<char*>(d.y) + i * bytes, here,
          d.draw.stream(sample), static_cast<std::uint64_t>(i - number * d.run));
      i += here;
    }
  });
}

}  // namespace tessera::cpu
