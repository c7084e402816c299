// One element as a C++ number.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include <tessera/core/tensor/factories.h>

#include "support/error_of.h"

namespace tessera {
namespace {

using testing_support::error_of;

template <class T>
void expect_refused(double value, DType dtype) {
  const Tensor x = scalar(value, {.dtype = dtype});
  EXPECT_EQ(error_of<InvalidArgument>([&] { return x.item<T>(); }).find("item: the value does not"),
            0)
      << value << " " << dtype;
}

TEST(Item, refuses_what_an_integer_type_cannot_hold) {
  for (const double value : {static_cast<double>(NAN), static_cast<double>(INFINITY),
                             static_cast<double>(-INFINITY), 1e30, -1e30, 0x1p63}) {
    expect_refused<int>(value, DType::f64);
    expect_refused<std::int64_t>(value, DType::f64);
    expect_refused<std::uint64_t>(value, DType::f32);
    expect_refused<std::int8_t>(value, DType::f32);
  }
  expect_refused<int>(0x1p31, DType::f64);
  expect_refused<int>(-0x1p31 - 1, DType::f64);
  expect_refused<int>(0x1p31, DType::i64);
  expect_refused<std::uint8_t>(-1, DType::i64);
  expect_refused<std::uint8_t>(256, DType::i16);
  expect_refused<unsigned>(-1, DType::f64);
}

TEST(Item, gives_the_largest_and_the_smallest_and_cuts_fractions_off) {
  EXPECT_EQ(scalar(-0x1p63, {.dtype = DType::f64}).item<std::int64_t>(), INT64_MIN);
  EXPECT_EQ(scalar(INT64_MAX, {.dtype = DType::i64}).item<std::int64_t>(), INT64_MAX);
  EXPECT_EQ(scalar(INT64_MAX, {.dtype = DType::i64}).item<std::uint64_t>(), INT64_MAX);
  EXPECT_EQ(scalar(0x1p31 - 0.5, {.dtype = DType::f64}).item<int>(), INT32_MAX);
  EXPECT_EQ(scalar(-0x1p31 - 0.5, {.dtype = DType::f64}).item<int>(), INT32_MIN);
  EXPECT_EQ(scalar(255.75).item<std::uint8_t>(), 255);
  EXPECT_EQ(scalar(-0.75).item<std::uint8_t>(), 0);
}

TEST(Item, of_a_nan_is_true_and_stays_nan) {
  EXPECT_TRUE(scalar(NAN).item<bool>());
  EXPECT_TRUE(std::isnan(scalar(NAN).item()));
  EXPECT_FALSE(scalar(-0.0).item<bool>());
}

}  // namespace
}  // namespace tessera
