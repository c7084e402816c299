// Initialisers that give a tensor a structure: eye, dirac, orthogonal, sparse.
#include <gtest/gtest.h>

#include <cmath>

#include <tessera/core/device/thread_pool.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/init/dirac.h>
#include <tessera/nn/init/eye.h>
#include <tessera/nn/init/orthogonal.h>
#include <tessera/nn/init/sparse.h>

#include "filled.h"
#include "support/values.h"

namespace tessera::nn {
namespace {

using testing_support::Floats;

TEST(Init, eye_is_the_identity) {
  EXPECT_EQ(filled(init::eye(), {2, 3}), (Floats{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(filled(init::eye(), {3, 2}), (Floats{1, 0, 0, 1, 0, 0}));
  EXPECT_EQ(filled(init::eye(), {0, 2}), Floats{});
  EXPECT_THROW(filled(init::eye(), {2}), ValueError);
  EXPECT_THROW(filled(init::eye(), {2, 2, 2}), ValueError);
}

TEST(Init, dirac_hands_channels_on) {
  EXPECT_EQ(filled(init::dirac(), {2, 1, 3}), (Floats{0, 1, 0, 0, 0, 0}));
  EXPECT_EQ(filled(init::dirac(), {1, 2, 2}), (Floats{0, 1, 0, 0}));
  EXPECT_EQ(filled(init::dirac(2), {4, 2, 1}), (Floats{1, 0, 0, 1, 1, 0, 0, 1}));
  const Floats plane = filled(init::dirac(), {2, 2, 3, 4});
  EXPECT_EQ(plane[6], 1);           // (0, 0, 1, 2)
  EXPECT_EQ(plane[3 * 12 + 6], 1);  // (1, 1, 1, 2)
  EXPECT_EQ(std::count(plane.begin(), plane.end(), 0), 46);
  EXPECT_EQ(filled(init::dirac(), {1, 1, 1, 1, 3})[1], 1);
  EXPECT_EQ(filled(init::dirac(), {2, 2, 0}), Floats{});
  EXPECT_THROW(filled(init::dirac(), {2, 2}), ValueError);
  EXPECT_THROW(filled(init::dirac(), {1, 1, 1, 1, 1, 1}), ValueError);
  EXPECT_THROW(filled(init::dirac(3), {4, 2, 1}), ValueError);
  EXPECT_THROW(filled(init::dirac(0), {4, 2, 1}), ValueError);
}

/// The largest difference of the products of rows (or columns) from those of unit vectors.
double distance_from_orthonormal(const Tensor& x, bool rows) {
  const std::int64_t across = x.numel() / x.size(0);
  const std::int64_t count = rows ? x.size(0) : across;
  const std::int64_t size = rows ? across : x.size(0);
  const auto* data = x.data<double>();
  const auto at = [&](std::int64_t i, std::int64_t k) {
    return rows ? data[i * size + k] : data[k * count + i];
  };
  double largest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      double product = 0;
      for (std::int64_t k = 0; k < size; ++k) {
        product += at(i, k) * at(j, k);
      }
      largest = std::max(largest, std::abs(product - (i == j ? 1 : 0)));
    }
  }
  return largest;
}

TEST(Init, orthogonal_has_orthonormal_rows_or_columns) {
  for (const Shape& shape : {Shape{64, 64}, Shape{20, 100}, Shape{100, 20}, Shape{16, 3, 3, 3}}) {
    const Tensor x = empty(shape, {.dtype = DType::f64});
    init::orthogonal()(x, Box::all_of(x.shape()), {.key = 5});
    const bool rows = shape[0] <= x.numel() / shape[0];
    EXPECT_LT(distance_from_orthonormal(x, rows), 1e-14) << shape;
    const Tensor tripled = empty(shape, {.dtype = DType::f64});
    init::orthogonal(3)(tripled, Box::all_of(tripled.shape()), {.key = 5});
    EXPECT_DOUBLE_EQ(tripled.to_vector<double>()[7], 3 * x.to_vector<double>()[7]);
  }
  EXPECT_EQ(filled(init::orthogonal(), {0, 3}), Floats{});
  EXPECT_THROW(filled(init::orthogonal(), {3}), ValueError);
}

TEST(Init, orthogonal_favours_no_direction) {
  double mean = 0;
  double corner = 0;
  constexpr int kDraws = 400;
  for (std::uint64_t key = 0; key < kDraws; ++key) {
    const Floats x = filled(init::orthogonal(), {4, 4}, key);
    mean += x[0] / kDraws;
    corner += x[0] * x[0] / kDraws;
  }
  EXPECT_NEAR(mean, 0, 0.1);        // deviation 1/2 / sqrt(400)
  EXPECT_NEAR(corner, 0.25, 0.05);  // deviation of a square about 0.22 / sqrt(400)
}

TEST(Init, orthogonal_does_not_depend_on_threads) {
  const int threads = num_threads();
  set_num_threads(1);
  const Floats alone = filled(init::orthogonal(), {300, 300});
  set_num_threads(3);
  EXPECT_EQ(filled(init::orthogonal(), {300, 300}), alone);
  set_num_threads(threads);
}

TEST(Init, sparse_empties_its_share_of_every_column) {
  constexpr std::int64_t kRows = 30;
  constexpr std::int64_t kColumns = 200;
  const Floats x = filled(init::sparse(0.25, 2), {kRows, kColumns});
  double squares = 0;
  std::vector<int> in_row(kRows);
  for (std::int64_t column = 0; column < kColumns; ++column) {
    int zeros = 0;
    for (std::int64_t row = 0; row < kRows; ++row) {
      const float value = x[static_cast<std::size_t>(row * kColumns + column)];
      zeros += value == 0 ? 1 : 0;
      in_row[static_cast<std::size_t>(row)] += value == 0 ? 1 : 0;
      squares += static_cast<double>(value) * value;
    }
    EXPECT_EQ(zeros, 8) << column;  // 7.5, rounded up
  }
  EXPECT_NEAR(squares / (22 * kColumns), 4, 0.4);
  for (const int zeros : in_row) {
    EXPECT_NEAR(zeros, kColumns * 8 / 30, 32);  // 5 deviations
  }
  EXPECT_EQ(filled(init::sparse(1), {2, 1}), (Floats{0, 0}));
  EXPECT_NE(filled(init::sparse(0), {1, 1})[0], 0);
  EXPECT_EQ(filled(init::sparse(0.5), {0, 2}), Floats{});
  EXPECT_THROW(filled(init::sparse(0.5), {2}), ValueError);
  EXPECT_THROW(init::sparse(1.5), ValueError);
}

}  // namespace
}  // namespace tessera::nn
