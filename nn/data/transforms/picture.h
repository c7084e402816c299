// What transforms of pictures share.
#pragma once

#include <cstdint>

#include <tessera/core/tensor/tensor.h>

namespace tessera::data {

/// Height and width. One number stands for both.
struct PictureSize {
  std::int64_t height = 1;
  std::int64_t width = 1;

  PictureSize(std::int64_t both) : height(both), width(both) {}
  PictureSize(int both) : height(both), width(both) {}
  PictureSize(std::int64_t h, std::int64_t w) : height(h), width(w) {}

  friend bool operator==(const PictureSize&, const PictureSize&) = default;
};

/// Throws InvalidArgument unless both are positive.
void check_picture_size(const char* transform, PictureSize size);
/// Throws InvalidArgument unless x is (channels, height, width).
void check_picture(const char* transform, const Tensor& x);
/// The part of a picture that begins at (top, left). Throws InvalidArgument for a picture that is
/// smaller.
[[nodiscard]] Tensor crop(const char* transform, const Tensor& x, std::int64_t top,
                          std::int64_t left, PictureSize size);

}  // namespace tessera::data
