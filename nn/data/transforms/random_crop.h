// A part of a picture from anywhere.
#pragma once

#include <tessera/nn/data/random.h>
#include <tessera/nn/data/transforms/picture.h>

namespace tessera::data {

struct RandomCropOptions {
  std::int64_t padding = 0;  ///< pixels of value 0 that are added on all sides before
};

/// A part of the given size, every place equally likely.
class RandomCrop {
 public:
  /// Throws InvalidArgument for a size that is not positive, or a negative padding.
  explicit RandomCrop(PictureSize size, const RandomCropOptions& options = {});
  /// Throws InvalidArgument for a picture that is smaller, padding included.
  [[nodiscard]] Tensor operator()(const Tensor& x, Random& random) const;

 private:
  PictureSize size_;
  std::int64_t padding_;
};

}  // namespace tessera::data
