#include <tessera/nn/data/transforms/random_crop.h>

#include <algorithm>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/pad.h>

namespace tessera::data {

RandomCrop::RandomCrop(PictureSize size, const RandomCropOptions& options)
    : size_(size), padding_(options.padding) {
  check_picture_size("RandomCrop", size_);
  check(padding_ >= 0, "RandomCrop: the padding is negative; got ", padding_);
}

Tensor RandomCrop::operator()(const Tensor& x, Random& random) const {
  check_picture("RandomCrop", x);
  const Dims border{0, padding_, padding_};
  const Tensor padded =
      padding_ == 0 ? x : pad(x, {.before = border, .after = border, .between = {}});
  const auto place = [&](std::int64_t room) {
    return random.below(std::max<std::int64_t>(room, 0) + 1);
  };
  const std::int64_t top = place(padded.size(1) - size_.height);
  const std::int64_t left = place(padded.size(2) - size_.width);
  return crop("RandomCrop", padded, top, left, size_);
}

}  // namespace tessera::data
