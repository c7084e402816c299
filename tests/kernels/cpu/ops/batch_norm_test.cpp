#include <tessera/core/ops/batch_norm.h>

#include <gtest/gtest.h>

#include <tessera/core/ops/transpose.h>
#include <tessera/core/tensor/factories.h>

#include "../support.h"
#include "compare.h"

namespace tessera::cpu {
namespace {

using test::compare;
using test::half;
using test::kHalf;

const Shape kShapes[] = {{3, 5, 49}, {33, 70}, {2, 3, 4, 16}, {1, 2, 1000}, {7, 1}};

Tensor up_for(const Tensor& x) {
  return randn(x.shape());
}

TEST(FastBatchNorm, equals_the_reference_on_every_instruction_set) {
  test::on_every_isa([](Isa isa) {
    SCOPED_TRACE(std::string(to_string(isa)));
    for (const Shape& shape : kShapes) {
      const Tensor x = randn(shape), up = up_for(x);
      const Tensor weight = randn({shape[1]}), bias = randn({shape[1]});
      compare<tessera::BatchNorm>({x, weight, bias});
      compare<tessera::BatchNorm>({half(x), weight}, {.dtype = DType::bf16}, kHalf);
      compare<tessera::BatchNorm>({x}, {.dtype = DType::bf16}, kHalf);
      compare<tessera::BatchNorm>({half(x), half(weight), half(bias)}, {.dtype = DType::bf16},
                                  kHalf);
      const Outputs saved = call_all<tessera::BatchNorm>({x, weight, bias});
      const TensorRef mean = saved[1], variance = saved[2];
      compare<tessera::BatchNormBackward>({up, x, mean, variance, weight},
                                          {.weight = true, .bias = true});
      compare<tessera::BatchNormBackward>({half(up), x, mean, variance, Tensor()});
      compare<tessera::BatchNormBackward>({up, half(x), mean, variance, weight}, {.weight = true},
                                          kHalf);
      compare<tessera::BatchNormBackward>({half(up), half(x), mean, variance, half(weight)},
                                          {.weight = true, .bias = true, .parameters = DType::bf16},
                                          kHalf);
    }
  });
}

TEST(FastBatchNorm, takes_any_layout) {
  const Tensor x = transpose(randn({7, 5, 4}), 0, 1);
  compare<tessera::BatchNorm>({x, randn({7})});
}

TEST(FastBatchNorm, gives_the_same_bits_for_any_number_of_threads) {
  const Tensor x = randn({16, 40, 100}), weight = randn({40}), up = randn({16, 40, 100});
  std::vector<std::vector<float>> results;
  test::with_every_thread_count([&](int) {
    const Outputs y = call_all<tessera::BatchNorm>({x, weight});
    const Outputs g =
        call_all<tessera::BatchNormBackward>({up, x, y[1], y[2], weight}, {.weight = true});
    results.push_back(y[0].to_vector<float>());
    for (const Tensor& more : {y[2], g[0], g[1]}) {
      const auto values = more.to_vector<float>();
      results.back().insert(results.back().end(), values.begin(), values.end());
    }
  });
  for (const auto& result : results) {
    EXPECT_EQ(result, results[0]);
  }
}

}  // namespace
}  // namespace tessera::cpu
