#include <tessera/nn/data/permutation.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include <tessera/core/base/error.h>

namespace tessera::data {
namespace {

TEST(Permutation, is_a_bijection_of_any_size) {
  for (const std::int64_t size : {1, 2, 3, 5, 16, 17, 124, 1000, 4097}) {
    const Permutation permutation(size, 42);
    std::vector<int> seen(static_cast<std::size_t>(size), 0);
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t place = permutation[i];
      ASSERT_GE(place, 0);
      ASSERT_LT(place, size);
      ++seen[static_cast<std::size_t>(place)];
    }
    EXPECT_EQ(seen, std::vector<int>(static_cast<std::size_t>(size), 1)) << size;
  }
  EXPECT_THROW(Permutation(0, 1), InvalidArgument);
}

/// Every number turns up at every place about equally often over many keys, small sizes included.
TEST(Permutation, has_no_favourite_place) {
  constexpr std::int64_t kSize = 6;
  constexpr int kKeys = 12000;
  std::vector<double> count(kSize * kSize, 0);
  for (int key = 0; key < kKeys; ++key) {
    const Permutation permutation(kSize, static_cast<std::uint64_t>(key));
    for (std::int64_t i = 0; i < kSize; ++i) {
      ++count[static_cast<std::size_t>(i * kSize + permutation[i])];
    }
  }
  double chi_squared = 0;
  for (const double n : count) {
    chi_squared += (n - kKeys / 6.0) * (n - kKeys / 6.0) / (kKeys / 6.0);
  }
  EXPECT_LT(chi_squared, 60);  // 25 degrees of freedom: passes 99.99 % of the time
}

TEST(Permutation, neighbours_do_not_stay_neighbours) {
  const Permutation permutation(10000, 7);
  int close = 0;
  for (std::int64_t i = 0; i + 1 < 10000; ++i) {
    close += std::abs(permutation[i + 1] - permutation[i]) <= 50 ? 1 : 0;
  }
  EXPECT_NEAR(close, 100, 60);
}

}  // namespace
}  // namespace tessera::data
