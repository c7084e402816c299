#include <tessera/nn/data/transforms/center_crop.h>

namespace tessera::data {
namespace {

/// n / 2, halves to the even number.
std::int64_t half(std::int64_t n) {
  const std::int64_t below = n / 2;
  return below + (n % 2 == 1 && below % 2 == 1 ? 1 : 0);
}

}  // namespace

CenterCrop::CenterCrop(PictureSize size) : size_(size) {
  check_picture_size("CenterCrop", size_);
}

Tensor CenterCrop::operator()(const Tensor& x) const {
  check_picture("CenterCrop", x);
  return crop("CenterCrop", x, half(x.size(1) - size_.height), half(x.size(2) - size_.width),
              size_);
}

}  // namespace tessera::data
