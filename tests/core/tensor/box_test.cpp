#include <tessera/core/tensor/box.h>

#include <gtest/gtest.h>

#include <sstream>

#include <tessera/core/base/error.h>

namespace tessera {
namespace {

const Box kMiddle = Box::all_of({4, 5, 3}).part(0, 1, 2).part(1, 2, 3);

/// Row-major numbers in the tensor of all elements of a box, counted index by index.
std::vector<std::int64_t> numbers_in(const Box& box) {
  std::vector<std::int64_t> numbers;
  const Strides strides = contiguous_strides(box.whole);
  for (std::int64_t i = 0; i < box.shape[0]; ++i) {
    for (std::int64_t j = 0; j < box.shape[1]; ++j) {
      for (std::int64_t k = 0; k < box.shape[2]; ++k) {
        numbers.push_back((box.offset[0] + i) * strides[0] + (box.offset[1] + j) * strides[1] +
                          (box.offset[2] + k) * strides[2]);
      }
    }
  }
  return numbers;
}

TEST(Box, numbers_its_elements_as_the_tensor_does) {
  for (const Box& box : {Box::all_of({4, 5, 3}), kMiddle, kMiddle.part(2, 1, 1),
                         kMiddle.part(1, 1, 0), Box::all_of({4, 5, 3}).part(0, 3, 1)}) {
    const std::vector<std::int64_t> numbers = numbers_in(box);
    ASSERT_EQ(numel_of(box.shape), std::ssize(numbers));
    const std::int64_t run = box.run();
    for (std::int64_t i = 0; i < std::ssize(numbers); ++i) {
      const std::int64_t number = numbers[static_cast<std::size_t>(i)];
      EXPECT_EQ(box.number(i), number) << box;
      EXPECT_EQ(box.number(i / run * run) + i % run, number) << box << " in runs of " << run;
      EXPECT_EQ(box.find({number / 15, number / 3 % 5, number % 3}), i) << box;
    }
  }
}

TEST(Box, has_runs_as_long_as_the_elements_lie_together) {
  EXPECT_EQ(Box::all_of({4, 5, 3}).run(), 60);
  EXPECT_EQ(Box::all_of({4, 5, 3}).part(0, 1, 2).run(), 30);
  EXPECT_EQ(kMiddle.run(), 9);
  EXPECT_EQ(kMiddle.part(2, 1, 1).run(), 1);
  EXPECT_EQ(Box::all_of({}).run(), 1);
}

TEST(Box, does_not_find_what_lies_outside) {
  EXPECT_EQ(kMiddle.find({0, 2, 0}), -1);
  EXPECT_EQ(kMiddle.find({3, 2, 0}), -1);
  EXPECT_EQ(kMiddle.find({1, 1, 0}), -1);
  EXPECT_EQ(kMiddle.find({1, 2, 0}), 0);
}

TEST(Box, of_a_number_is_all_of_it) {
  EXPECT_EQ(Box(), Box::all_of({}));
  EXPECT_TRUE(Box().is_all());
  EXPECT_EQ(Box().number(0), 0);
  EXPECT_EQ(Box().find({}), 0);
}

TEST(Box, refuses_parts_beyond_its_end) {
  EXPECT_THROW(static_cast<void>(kMiddle.part(0, 1, 2)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(kMiddle.part(0, -1, 1)), InvalidArgument);
  EXPECT_NO_THROW(static_cast<void>(kMiddle.part(0, 2, 0)));
}

TEST(Box, prints_its_borders) {
  std::ostringstream text;
  text << kMiddle << ", " << Box();
  EXPECT_EQ(text.str(), "[1:3, 2:5, 0:3] of (4, 5, 3), [] of ()");
}

}  // namespace
}  // namespace tessera
