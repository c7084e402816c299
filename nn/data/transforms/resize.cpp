#include <tessera/nn/data/transforms/resize.h>

#include <algorithm>

#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/squeeze.h>
#include <tessera/core/ops/unsqueeze.h>
#include <tessera/core/ops/upsample.h>

namespace tessera::data {

Resize::Resize(std::int64_t shorter) : size_(shorter), keeps_proportions_(true) {
  check_picture_size("Resize", size_);
}

Resize::Resize(std::int64_t height, std::int64_t width)
    : size_(height, width), keeps_proportions_(false) {
  check_picture_size("Resize", size_);
}

Tensor Resize::operator()(const Tensor& x) const {
  check_picture("Resize", x);
  PictureSize size = size_;
  if (keeps_proportions_) {
    const std::int64_t side = std::min(x.size(1), x.size(2));
    size = {x.size(1) * size_.height / side, x.size(2) * size_.width / side};
  }
  const bool bytes = x.dtype() == DType::u8;
  const Tensor resized =
      squeeze(upsample(unsqueeze(bytes ? cast(x, DType::f32) : x, 0),
                       {.size = {size.height, size.width}, .mode = Interpolation::linear}),
              0);
  return bytes ? cast(resized + 0.5, DType::u8) : resized;
}

}  // namespace tessera::data
