// Pictures of another size.
#pragma once

#include <tessera/nn/data/transforms/picture.h>

namespace tessera::data {

/// Bilinear, pixels as squares whose centres keep their place, without a filter against aliasing:
/// as torch.nn.functional.interpolate(mode="bilinear"). u8 is rounded to the nearest number.
class Resize {
 public:
  /// The shorter side becomes `shorter`, the other one follows, rounded down.
  explicit Resize(std::int64_t shorter);
  /// The sides become what is given. Throws InvalidArgument for a size that is not positive.
  Resize(std::int64_t height, std::int64_t width);
  [[nodiscard]] Tensor operator()(const Tensor& x) const;

 private:
  PictureSize size_;
  bool keeps_proportions_;
};

}  // namespace tessera::data
