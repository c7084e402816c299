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

void drop_elements(const DropoutElements& e, double p, const Draw& draw) {
  const auto run = IsaTable<DropoutTable>::get().run[kind_index(e.dtype)];
  const auto bytes = static_cast<std::int64_t>(size_of(e.dtype));
  const DropoutDraw dropout(p, draw.key, draw.first_sample);
  const bool all = e.box.is_all();
  const std::int64_t box_run = e.box.run();
  constexpr std::int64_t kStep = 16384;
  for_ranges(numel_of(e.box.shape), kStep, [&](std::int64_t first, std::int64_t count) {
    const std::int64_t end = first + count;
    for (std::int64_t i = first; i < end;) {
      const std::int64_t number = all ? i : e.box.number(i);
      const std::int64_t element = number % e.microbatch;
      const std::int64_t sample = number / e.microbatch * draw.samples + element / draw.per_sample;
      const std::int64_t offset = element % draw.per_sample;
      const std::int64_t here =
          std::min({end - i, draw.per_sample - offset, box_run - i % box_run});
      run(static_cast<const char*>(e.x) + i * bytes, static_cast<char*>(e.y) + i * bytes, here,
          dropout.stream(sample), static_cast<std::uint64_t>(offset));
      i += here;
    }
  });
}

}  // namespace tessera::cpu
