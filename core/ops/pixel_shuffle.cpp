#include <tessera/core/ops/pixel_shuffle.h>

#include <tessera/core/ops/microbatches.h>
#include <tessera/core/ops/permute.h>
#include <tessera/core/ops/reshape.h>

namespace tessera {
namespace {

/// The dims of x in front of channels and positions, and then `sizes`.
Shape behind_samples(const Tensor& x, const Dims& sizes) {
  Shape shape = unstacked_shape(x);
  for (int i = 0; i < 3; ++i) {
    shape.erase(shape.size() - 1);
  }
  for (const std::int64_t size : sizes) {
    shape.push_back(size);
  }
  return shape;
}

/// x, reshaped to five last dims, with those in another order.
Tensor reorder(const Tensor& x, const Dims& sizes, const Dims& order) {
  const Tensor parts = reshape(x, behind_samples(x, sizes));
  const int samples = unstacked_ndim(parts) - 5;
  Dims whole;
  for (int d = 0; d < samples + 5; ++d) {
    whole.push_back(d < samples ? d : samples + order[d - samples]);
  }
  return permute(parts, whole);
}

void check_image(const char* op, const Tensor& x, std::int64_t factor) {
  check(factor >= 1 && factor < (std::int64_t{1} << 31), op, ": factor out of range; got ", factor,
        ", expected 1 to 2^31 - 1");
  const int ndim = unstacked_ndim(x);
  check(ndim >= 3 && x.ndim() <= kMaxDims - 2, op, ": wrong shape of x; got ", x.shape(),
        ", expected (..., channels, height, width) of at most ", kMaxDims - 2, " dims");
}

}  // namespace

Tensor pixel_shuffle(const Tensor& x, std::int64_t factor) {
  check_image("pixel_shuffle", x, factor);
  const std::int64_t c = x.size(-3), h = x.size(-2), w = x.size(-1);
  check(c % (factor * factor) == 0, "pixel_shuffle: channels do not divide; got ", c,
        ", expected a multiple of ", factor * factor);
  const std::int64_t channels = c / (factor * factor);
  return reshape(reorder(x, {channels, factor, factor, h, w}, {0, 3, 1, 4, 2}),
                 behind_samples(x, {channels, h * factor, w * factor}));
}

Tensor pixel_unshuffle(const Tensor& x, std::int64_t factor) {
  check_image("pixel_unshuffle", x, factor);
  const std::int64_t c = x.size(-3), h = x.size(-2), w = x.size(-1);
  check(h % factor == 0 && w % factor == 0, "pixel_unshuffle: positions do not divide; got ",
        x.shape(), ", expected multiples of ", factor);
  return reshape(reorder(x, {c, h / factor, factor, w / factor, factor}, {0, 2, 4, 1, 3}),
                 behind_samples(x, {c * factor * factor, h / factor, w / factor}));
}

}  // namespace tessera
