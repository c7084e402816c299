#include <tessera/core/tensor/any.h>

#include <gtest/gtest.h>

#include <limits>

#include <tessera/core/tensor/factories.h>

namespace tessera {
namespace {

TEST(Any, asks_for_one_element_and_all_for_each) {
  EXPECT_TRUE(any(tensor({0.F, 0.5F})));
  EXPECT_FALSE(all(tensor({0.F, 0.5F})));
  EXPECT_TRUE(all(tensor({-1.F, 0.5F})));
  EXPECT_FALSE(any(zeros({2, 2}, {.dtype = DType::boolean})));
}

TEST(Any, takes_nan_for_something) {
  EXPECT_TRUE(any(scalar(std::numeric_limits<double>::quiet_NaN())));
  EXPECT_TRUE(all(scalar(std::numeric_limits<double>::quiet_NaN())));
}

TEST(Any, has_no_element_to_find_in_an_empty_tensor) {
  EXPECT_FALSE(any(zeros({0})));
  EXPECT_TRUE(all(zeros({0})));
}

TEST(Any, cannot_ask_a_meta_tensor) {
  EXPECT_THROW(static_cast<void>(any(zeros({1}, {.device = {.type = DeviceType::meta}}))),
               NotImplementedError);
}

}  // namespace
}  // namespace tessera
