// Sizes that no memory has.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/expand.h>
#include <tessera/core/tensor/factories.h>

#include "support/error_of.h"

namespace tessera {
namespace {

using testing_support::error_of;

constexpr std::int64_t kMany = std::int64_t{1} << 33;

TEST(Sizes, MoreThanAddressesCountIsRefused) {
  const std::string expected =
      ": too many elements; got (8589934592, 8589934592), "
      "expected less than 2^63 bytes";
  const Shape shape{kMany, kMany};
  EXPECT_EQ(error_of<InvalidArgument>([&] { return empty(shape); }), "empty" + expected);
  EXPECT_EQ(error_of<InvalidArgument>(
                [&] { return zeros(shape, {.device = {.type = DeviceType::meta}}); }),
            "empty" + expected);
  EXPECT_EQ(error_of<InvalidArgument>([&] {
              return expand(ones({1, 1}), shape);
            }),
            "expand" + expected);
  const Tensor column = expand(ones({1, 1}), {kMany, 1}), row = expand(ones({1, 1}), {1, kMany});
  EXPECT_EQ(error_of<InvalidArgument>([&] { return column + row; }), "add" + expected);
}

TEST(Sizes, RangesOfMoreThanIntegersCountAreRefused) {
  for (const double end : {1e30, 0x1p63, static_cast<double>(INFINITY)}) {
    EXPECT_EQ(error_of<InvalidArgument>([&] {
                return arange(0.0, end, 1.0);
              }).find("arange: too many elements; got "),
              0)
        << end;
  }
  EXPECT_EQ(arange(0.0, -1e30, -1e30).numel(), 1);
}

TEST(Sizes, NothingOfManyIsNothing) {
  const Tensor nothing = empty({kMany, 0});
  EXPECT_EQ(nothing.numel(), 0);
  EXPECT_EQ((nothing + 1).shape(), nothing.shape());
  EXPECT_NE(error_of<InvalidArgument>([&] {
              return empty({kMany, kMany, 0});
            }),
            "no error");  // strides count on
}

}  // namespace
}  // namespace tessera
