#include <tessera/core/ops/upsample.h>

#include <cmath>

#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/resample.h>

namespace tessera {
namespace {

Resampling::Kind kind_of(Interpolation mode) {
  switch (mode) {
    case Interpolation::nearest:
      return Resampling::Kind::nearest;
    case Interpolation::nearest_exact:
      return Resampling::Kind::nearest_exact;
    case Interpolation::linear:
      return Resampling::Kind::linear;
    default:
      return Resampling::Kind::cubic;
  }
}

void set_scaled_sizes(Resampling& r, const std::vector<double>& scale) {
  const auto ndim = static_cast<std::size_t>(r.in.size());
  check(scale.size() == 1 || scale.size() == ndim, "upsample: wrong number of scales; got ",
        scale.size(), ", expected one or ", ndim);
  for (std::size_t d = 0; d < ndim; ++d) {
    r.scale[d] = scale[scale.size() == 1 ? 0 : d];
    const double size = std::floor(static_cast<double>(r.in[static_cast<int>(d)]) * r.scale[d]);
    check(size >= 1 && size < 0x1p31, "upsample: scale out of range; got ", r.scale[d],
          ", expected one that makes 1 to 2^31 - 1 positions of ", r.in[static_cast<int>(d)]);
    r.out.push_back(static_cast<std::int64_t>(size));
  }
}

}  // namespace

Tensor upsample(const Tensor& x, const Upsampling& options) {
  const Shape shape = unstacked_shape(x);
  const int ndim = spatial_dims("upsample", shape);
  check(options.size.empty() != options.scale.empty(), "upsample: wrong options; got ",
        options.size.empty() ? "neither" : "both", " of size and scale, expected one of them");
  check(options.mode != Interpolation::cubic || ndim == 2,
        "upsample: wrong number of spatial dims for cubic interpolation; got ", ndim,
        ", expected 2");
  const bool picks =
      options.mode == Interpolation::nearest || options.mode == Interpolation::nearest_exact;
  check(!picks || !options.align_corners,
        "upsample: wrong align_corners; got true with a nearest mode, expected false, or linear or "
        "cubic");
  Resampling r{.kind = kind_of(options.mode),
               .in = spatial_sizes(shape),
               .align_corners = options.align_corners};
  if (options.size.empty()) {
    set_scaled_sizes(r, options.scale);
  } else {
    const Spatial size = spatial_numbers("upsample", "size", options.size, ndim, 1, 1);
    r.out = Dims(std::span<const std::int64_t>(size).last(static_cast<std::size_t>(ndim)));
  }
  return call<Resample>({x}, r);
}

}  // namespace tessera
