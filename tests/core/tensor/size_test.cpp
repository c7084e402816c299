// Sizes that no memory has.
#include <gtest/gtest.h>

#include <string>

#include <tessera/core/base/error.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/expand.h>
#include <tessera/core/tensor/factories.h>

namespace tessera {
namespace {

constexpr std::int64_t kMany = std::int64_t{1} << 33;

template <class F>
std::string refusal(const F& call) {
  try {
    static_cast<void>(call());
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "went through";
}

TEST(Sizes, MoreThanAddressesCountIsRefused) {
  const std::string expected =
      ": too many elements; got (8589934592, 8589934592), "
      "expected less than 2^63 bytes";
  const Shape shape{kMany, kMany};
  EXPECT_EQ(refusal([&] { return empty(shape); }), "empty" + expected);
  EXPECT_EQ(refusal([&] { return zeros(shape, {.device = {.type = DeviceType::meta}}); }),
            "empty" + expected);
  EXPECT_EQ(refusal([&] { return expand(ones({1, 1}), shape); }), "expand" + expected);
  const Tensor column = expand(ones({1, 1}), {kMany, 1}), row = expand(ones({1, 1}), {1, kMany});
  EXPECT_EQ(refusal([&] { return column + row; }), "add" + expected);
}

TEST(Sizes, NothingOfManyIsNothing) {
  const Tensor nothing = empty({kMany, 0});
  EXPECT_EQ(nothing.numel(), 0);
  EXPECT_EQ((nothing + 1).shape(), nothing.shape());
  EXPECT_NE(refusal([&] { return empty({kMany, kMany, 0}); }), "went through");  // strides count on
}

}  // namespace
}  // namespace tessera
