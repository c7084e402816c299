// The middle of a picture.
#pragma once

#include <tessera/nn/data/transforms/picture.h>

namespace tessera::data {

/// The middle part of the given size. Where an odd number of rows or columns goes, the halves round
/// to the even side, as in torchvision.
class CenterCrop {
 public:
  explicit CenterCrop(PictureSize size);
  /// Throws InvalidArgument for a picture that is smaller.
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

 private:
  PictureSize size_;
};

}  // namespace tessera::data
