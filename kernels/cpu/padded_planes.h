// Images with zeros around them, so that every window lies inside.
#pragma once

#include <cstdint>
#include <vector>

#include <tessera/core/device/allocator.h>
#include <tessera/core/ops/support/spatial.h>

namespace tessera::cpu {

using Offsets = std::vector<std::int64_t>;

/// Calls f(i0, i1, i2) for all positions of `size`.
template <class F>
void each_position(const Spatial& size, const F& f) {
  for (std::int64_t d = 0; d < size[0]; ++d) {
    for (std::int64_t h = 0; h < size[1]; ++h) {
      for (std::int64_t w = 0; w < size[2]; ++w) {
        f(Spatial{d, h, w});
      }
    }
  }
}

/// Planes with zeros around them: position i of a plane is position i + before of a padded one.
class PaddedPlanes {
 public:
  /// Copies `count` planes of size `in`; what leaves `size` is left out.
  PaddedPlanes(const double* planes, std::int64_t count, const Spatial& in, const Spatial& before,
               const Spatial& size);

  [[nodiscard]] double* data() const { return memory_.as<double>(); }
  [[nodiscard]] std::int64_t plane() const { return size_[0] * size_[1] * size_[2]; }
  [[nodiscard]] std::int64_t at(const Spatial& i) const {
    return (i[0] * size_[1] + i[1]) * size_[2] + i[2];
  }

 private:
  void fill(const double* from, const Spatial& in, const Spatial& before, double* to) const;

  Spatial size_;
  HeldBlock memory_;
};

}  // namespace tessera::cpu
