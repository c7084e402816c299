// Fast kernels of copies, choices and sums against their ops' reference kernels.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/clamp.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/concat.h>
#include <tessera/core/ops/copy.h>
#include <tessera/core/ops/maximum.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/minimum.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/pad.h>
#include <tessera/core/ops/pow.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/sum_to.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/core/ops/where.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/core/tensor/modes.h>

#include "compare.h"

namespace tessera::cpu {
namespace {

using test::compare;
using test::half;
using test::kHalf;

TEST(FastOps, Copies) {
  const Tensor x = randn({3, 40, 70, 5}), matrix = randn({130, 70});
  for (const auto& [a, b] : {std::pair{0, 1}, {1, 2}, {2, 3}, {0, 3}}) {
    compare<Cast>({transpose(x, a, b)}, {DType::f32}, 0);
    compare<Cast>({transpose(half(x), a, b)}, {DType::bf16}, 0);
    compare<Cast>({transpose(x, a, b)}, {DType::bf16}, 0);
  }
  compare<Cast>({slice(x, 2, 3, 60)}, {DType::f32}, 0);
  compare<Cast>({slice(matrix, 1, 3, 60)}, {DType::f32}, 0);
  compare<Cast>({select(matrix, 1, 3)}, {DType::f32}, 0);
  compare<Cast>({transpose(cast(matrix, DType::i64), 0, 1)}, {DType::i64}, 0);
  compare<Cast>({transpose(cast(matrix, DType::boolean), 0, 1)}, {DType::boolean}, 0);
  compare<Copy>({randn({70, 130}), transpose(matrix, 0, 1)}, {}, 0);
  compare<Copy>({randn({4, 130, 70}), matrix}, {}, 0);
  compare<Copy>({randn({4, 70}), scalar(2.0)}, {}, 0);
}

TEST(FastOps, Choices) {
  const Tensor x = randn({3, 5, 37}), y = randn({3, 5, 37}), number = scalar(0.1);
  const Tensor exact = scalar(0.1, {.dtype = DType::f64});  // rounded
  const Tensor tenth = full({3, 5, 37}, 0.1);
  for (const Tensor& a : {x, tenth, half(x)}) {
    for (const Tensor& b : {a.dtype() == DType::f32 ? y : half(y), number, exact}) {
      compare<Eq>({a, b}, {}, 0);
      compare<Ne>({a, b}, {}, 0);
      compare<Lt>({a, b}, {}, 0);
      compare<Le>({a, b}, {}, 0);
      compare<Gt>({a, b}, {}, 0);
      compare<Ge>({a, b}, {}, 0);
      compare<Maximum>({a, b}, {}, 0);
      compare<Minimum>({a, b}, {}, 0);
      compare<Where>({x > 0, a, b}, {}, 0);
      compare<Where>({transpose(transpose(x, 0, 2) > 0, 0, 2), a, number}, {}, 0);
      compare<Where>({select(x, 0, 1) > 0, exact, a}, {}, 0);
    }
    compare<Clamp>({a}, {-0.3, 0.7}, 0);
    compare<Clamp>({a}, {-INFINITY, 0.7}, 0);
    compare<Clamp>({transpose(a, 0, 2)}, {-0.3, 0.7}, 0);
    compare<Pow>({a, scalar(2)}, {}, 0);
    compare<Pow>({a, scalar(-1)}, {}, 0);
  }
}

TEST(FastOps, Broadcasts) {
  const Tensor x = randn({3, 5, 37}), column = randn({5, 1}), plane = randn({3, 1, 37});
  for (const Tensor& b : {column, plane, transpose(randn({37, 5}), 0, 1)}) {
    compare<Mul>({x, b});
    compare<Mul>({b, x});
    compare<Sub>({b, x});
    compare<Sub>({half(x), half(b)}, {}, kHalf);
    compare<Maximum>({b, x}, {}, 0);
    compare<Lt>({b, x}, {}, 0);
    compare<Where>({b > 0, x, b}, {}, 0);
  }
  compare<Add>({transpose(x, 0, 2), randn({37, 5, 3})});
}

TEST(FastOps, Joins) {
  const Tensor x = randn({3, 5, 37}), y = randn({3, 2, 37});
  compare<Concat>({x, y, x}, {.dim = 1}, 0);
  compare<Concat>({half(x), half(x)}, {.dim = -1}, 0);
  compare<Concat>({transpose(x, 0, 2), transpose(y, 0, 2)}, {.dim = 1}, 0);
  compare<Pad>({x}, {.before = {1, 0, 3}, .after = {0, 2, 0}, .value = 0.3}, 0);
  compare<Pad>({half(transpose(x, 0, 1))}, {.before = {1, 0, 3}, .after = {0, 2, 0}}, 0);
}

TEST(FastOps, ChoicesSeeNan) {
  const Tensor x = tensor({NAN, 1.F, NAN, 2.F}), y = tensor({3.F, NAN, NAN, 4.F});
  const auto bits = [](const Tensor& t) {
    std::string text;
    for (const float v : t.to_vector<float>()) {
      text += std::isnan(v) ? "nan " : std::to_string(static_cast<int>(v)) + " ";
    }
    return text;
  };
  EXPECT_EQ(bits(maximum(x, y)), "nan nan nan 4 ");
  EXPECT_EQ(bits(minimum(x, y)), "nan nan nan 2 ");
  EXPECT_EQ(bits(clamp(x, 0, 1)), "nan 1 nan 1 ");
  EXPECT_EQ((x < y).to_vector<bool>(), (std::vector<bool>{false, false, false, true}));
  EXPECT_EQ(ne(x, x).to_vector<bool>(), (std::vector<bool>{true, false, true, false}));
}

TEST(FastOps, Sums) {
  const Tensor x = randn({4, 6, 37}), long_rows = randn({2, 300000});
  for (const Tensor& t : {x, half(x), transpose(x, 0, 2)}) {
    const double tolerance = t.dtype() == DType::bf16 ? kHalf : 1e-5;
    for (const Dims& dims : {Dims{}, Dims{0}, Dims{1}, Dims{2}, Dims{0, 2}, Dims{0, 1}}) {
      compare<Sum>({t}, {.dims = dims}, tolerance);
      compare<Mean>({t}, {.dims = dims, .keepdim = true}, tolerance);
    }
  }
  compare<SumTo>({x}, {.shape = {37}});
  compare<SumTo>({x}, {.shape = {4, 1, 37}});
  compare<SumTo>({x}, {.shape = {6, 1}});
  compare<Sum>({long_rows}, {.dims = {1}}, 1e-4);
}

/// A sum over microbatches together has the bits of the sums of each, added along the tree.
TEST(FastOps, SumsAreThoseOfMicrobatches) {
  for (const int cut_dim : {0, 1}) {
    const Tensor x = randn({4, 8, 21});
    std::vector<std::vector<float>> parts;
    for (std::int64_t i = 0; i < 4; ++i) {
      const std::int64_t size = x.shape()[cut_dim] / 4;
      parts.push_back(sum(slice(x, cut_dim, i * size, (i + 1) * size), {0, 1}).to_vector<float>());
    }
    x.get().set_microbatches({.count = 4, .dim = static_cast<std::int8_t>(cut_dim)});
    compare<Sum>({x}, {.dims = {cut_dim}});
    const Sum::Attrs both{.dims = {0, 1}};
    compare<Sum>({x}, both);
    std::vector<float> all;
    for (const auto& part : parts) {
      all.insert(all.end(), part.begin(), part.end());
    }
    EXPECT_EQ(call<Sum>({x}, both).to_vector<float>(), all);
    const ModeGuard<&Modes::batch_sum> tree{BatchSum::tree};
    compare<Sum>({x}, both);
    const std::vector<float> whole = call<Sum>({x}, both).to_vector<float>();
    for (std::size_t i = 0; i < whole.size(); ++i) {
      ASSERT_EQ(whole[i], (parts[0][i] + parts[1][i]) + (parts[2][i] + parts[3][i]));
    }
  }
}

}  // namespace
}  // namespace tessera::cpu
