#include <tessera/nn/data/transforms/picture.h>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/slice.h>

namespace tessera::data {

void check_picture_size(const char* transform, PictureSize size) {
  check(size.height > 0 && size.width > 0, transform, ": the size is not positive; got ",
        size.height, " x ", size.width);
}

void check_picture(const char* transform, const Tensor& x) {
  check(x.ndim() == 3 && x.size(1) > 0 && x.size(2) > 0, transform, ": no picture; got shape ",
        x.shape(), ", expected (channels, height, width)");
}

Tensor crop(const char* transform, const Tensor& x, std::int64_t top, std::int64_t left,
            PictureSize size) {
  check(x.size(1) >= size.height && x.size(2) >= size.width, transform,
        ": the picture is too small; got ", x.size(1), " x ", x.size(2), ", expected at least ",
        size.height, " x ", size.width);
  return slice(slice(x, 1, top, top + size.height), 2, left, left + size.width);
}

}  // namespace tessera::data
