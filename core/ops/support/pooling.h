// Windows of pools over (samples, channels, positions...).
#pragma once

#include <tessera/core/ops/support/spatial.h>

namespace tessera {

/// How windows lie on the input. Lists have a number for each spatial dim, or one for all.
struct PoolOptions {
  Dims kernel{1};
  Dims stride{};    ///< empty: that of the kernel, so that windows do not overlap
  Dims padding{0};  ///< at both ends, at most half a window
  Dims dilation{1};
  bool ceil_mode = false;  ///< a last window may reach beyond the padding
  void fields(auto&& see) const {
    see("kernel", kernel), see("stride", stride), see("padding", padding),
        see("dilation", dilation), see("ceil_mode", ceil_mode);
  }
  friend bool operator==(const PoolOptions&, const PoolOptions&) = default;
};

/// x (planes, in...) and its pools (planes, out...); three spatial dims, leading ones of size 1
/// where there are fewer.
struct PoolGeometry {
  int ndim = 0;  ///< spatial dims that there are
  std::int64_t batch = 0, channels = 0;
  Spatial in{}, out{}, kernel{}, stride{}, padding{}, dilation{};

  [[nodiscard]] std::int64_t planes() const { return batch * channels; }
  [[nodiscard]] std::int64_t in_size() const { return in[0] * in[1] * in[2]; }
  [[nodiscard]] std::int64_t out_size() const { return out[0] * out[1] * out[2]; }
  [[nodiscard]] Shape y_shape() const { return with_spatial(batch, channels, out, ndim); }
};

/// Throws InvalidArgument that names `op` for an input and options that do not fit.
[[nodiscard]] PoolGeometry pool_geometry(const char* op, const Shape& x,
                                         const PoolOptions& options);

}  // namespace tessera
