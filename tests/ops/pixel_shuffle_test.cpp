#include <tessera/core/ops/pixel_shuffle.h>

#include <gtest/gtest.h>

#include <numeric>

#include <tessera/core/tensor/factories.h>

namespace tessera {
namespace {

Tensor counted(const Shape& shape) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(numel_of(shape)));
  std::iota(values.begin(), values.end(), 0);
  return from_values(std::span<const std::int64_t>(values), shape);
}

TEST(PixelShuffle, makes_blocks_of_channels) {
  const Tensor y = pixel_shuffle(counted({4, 1, 2}), 2);
  EXPECT_EQ(y.shape(), (Shape{1, 2, 4}));
  EXPECT_EQ(y.to_vector<int>(), (std::vector<int>{0, 2, 1, 3, 4, 6, 5, 7}));
}

TEST(PixelShuffle, is_undone) {
  const Tensor x = counted({2, 3, 18, 2, 5});
  const Tensor y = pixel_shuffle(x, 3);
  EXPECT_EQ(y.shape(), (Shape{2, 3, 2, 6, 15}));
  EXPECT_EQ(pixel_unshuffle(y, 3).shape(), x.shape());
  EXPECT_EQ(pixel_unshuffle(y, 3).to_vector<int>(), x.to_vector<int>());
}

TEST(PixelShuffle, refuses_what_does_not_divide) {
  EXPECT_THROW(static_cast<void>(pixel_shuffle(counted({3, 2, 2}), 2)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(pixel_shuffle(counted({4, 2}), 2)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(pixel_shuffle(counted({4, 2, 2}), 0)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(pixel_unshuffle(counted({4, 3, 2}), 2)), InvalidArgument);
}

}  // namespace
}  // namespace tessera
