#include <tessera/kernels/cpu/padded_planes.h>

#include <algorithm>

#include <tessera/kernels/cpu/ranges.h>

namespace tessera::cpu {

PaddedPlanes::PaddedPlanes(const double* planes, std::int64_t count, const Spatial& in,
                           const Spatial& before, const Spatial& size)
    : size_(size),
      memory_(static_cast<std::size_t>(std::max<std::int64_t>(1, count * plane())) *
              sizeof(double)) {
  for_ranges(count, rows_per_task(plane()), [&](std::int64_t first, std::int64_t n) {
    for (std::int64_t i = first; i < first + n; ++i) {
      fill(planes + i * in[0] * in[1] * in[2], in, before, data() + i * plane());
    }
  });
}

void PaddedPlanes::fill(const double* from, const Spatial& in, const Spatial& before,
                        double* to) const {
  std::fill_n(to, plane(), 0.0);
  const std::int64_t first = std::max<std::int64_t>(0, -before[2]);
  const std::int64_t last = std::min(in[2], size_[2] - before[2]);
  each_position({in[0], in[1], 1}, [&](const Spatial& row) {
    const std::int64_t d = row[0] + before[0], h = row[1] + before[1];
    if (d >= 0 && d < size_[0] && h >= 0 && h < size_[1] && first < last) {
      const double* line = from + (row[0] * in[1] + row[1]) * in[2];
      std::copy(line + first, line + last, to + at({d, h, first + before[2]}));
    }
  });
}

}  // namespace tessera::cpu
