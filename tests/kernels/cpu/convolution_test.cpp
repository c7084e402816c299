// Convolutions by products of matrices, by Winograd's algorithm and, where it is built in, by
// oneDNN.
#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include <tessera/core/ops/convolution.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/kernels/cpu/convolution_library.h>

#include "ops/compare.h"
#include "support.h"
#include "support/sweep.h"

namespace tessera::cpu {
namespace {

using test::half;

/// Runs `body` once with each provider that is built in.
template <class Body>
void with_every_provider(const Body& body) {
  const ConvolutionProvider before = convolution_provider();
  for (const auto provider : {ConvolutionProvider::own, ConvolutionProvider::best}) {
    set_convolution_provider(provider);
    SCOPED_TRACE(std::string(to_string(convolution_provider())));
    body();
  }
  set_convolution_provider(before);
}

/// A convolution to try.
struct Example {
  Shape x, weight;
  ConvolutionOptions options;

  [[nodiscard]] Shape y() const {
    return convolution_geometry("example", x, weight, options).y_shape();
  }
  /// So many products take the reference seconds where the address sanitizer watches it.
  [[nodiscard]] bool is_large() const {
    return numel_of(y()) * numel_of(weight) / weight[0] > 10'000'000;
  }
};

/// Numbers so small that sums of thousands of products stay near 1.
Tensor small(const Shape& shape) {
  return randn(shape) * 0.05;
}

// Blocks of samples that are not full, several runs of channels, windows over every edge.
const std::vector<Example> kExamples{
    {{3, 3, 9, 8}, {16, 3, 3, 3}, {.padding = {1}}},
    {{5, 16, 5, 5}, {256, 16, 3, 3}, {.padding = {1}}},
    {{5, 256, 3, 3}, {32, 256, 3, 3}, {.padding = {1}}},
    {{2, 32, 8, 8}, {16, 32, 1, 1}, {.stride = {2}}},
    {{2, 8, 9, 10}, {12, 2, 3, 2}, {.stride = {2, 1}, .padding = {2, 0}, .groups = 4}},
    {{2, 5, 30}, {7, 5, 4}, {.stride = {3}, .padding = {2}, .dilation = {2}}},
    {{2, 4, 4, 5, 6}, {6, 4, 2, 3, 3}, {.padding = {1, 0, 2}}},
    {{2, 16, 3, 4, 5}, {32, 16, 2, 3, 2}, {.padding = {1, 0, 1}}},
    {{5, 32, 9, 8}, {32, 1, 3, 3}, {.stride = {2}, .padding = {1}, .groups = 32}},
    {{3, 32, 9, 8}, {64, 16, 3, 3}, {.padding = {1}, .groups = 2}},
    {{5, 64, 11, 14}, {96, 64, 3, 3}, {.padding = {1}}},
    {{3, 32, 9, 7}, {32, 32, 3, 3}, {.padding = {0, 2}}},
    {{4, 40, 50, 40}, {33, 40, 3, 4}, {.stride = {2, 3}, .padding = {3, 1}, .dilation = {2, 1}}},
    {{9, 24, 30}, {50, 24, 5}, {.stride = {2}, .padding = {1}, .dilation = {3}}},
};

/// Every provider gives what the reference gives.
template <OpStruct Op>
void compare_providers(std::initializer_list<TensorRef> inputs, const typename Op::Attrs& attrs,
                       double tolerance = 1e-5) {
  const Outputs want = test::reference_of<Op>(inputs, attrs);
  with_every_provider([&] { test::expect_fast<Op>(inputs, attrs, want, tolerance); });
}

using Comparisons = std::vector<std::function<void()>>;

/// All comparisons of an example, or one of a large example in a run that samples.
void run_sampled(const Example& e, const Comparisons& all) {
  const int count = static_cast<int>(all.size());
  const auto salt = static_cast<unsigned>(numel_of(e.x));  // not the same one of each example
  for (const int i : tessera::test::sampled(count, e.is_large() ? 1 : count, salt)) {
    all[static_cast<std::size_t>(i)]();
  }
}

TEST(ConvolutionKernel, agrees_with_the_reference) {
  for (const Example& e : kExamples) {
    const Tensor x = randn(e.x), weight = small(e.weight), y = small(e.y());
    const Tensor bias = randn({e.weight[0]}), x_bias = randn({e.x[1]});
    const Dims size = spatial_sizes(e.x), kernel = spatial_sizes(e.weight);
    run_sampled(
        e,
        {
            [&] {
              compare_providers<Convolution>({x, weight, bias}, {e.options});
            },
            [&] {
              compare_providers<ConvolutionBackwardInput>({y, weight, Tensor()}, {e.options, size});
            },
            [&] {
              compare_providers<ConvolutionBackwardInput>({y, weight, x_bias}, {e.options, size});
            },
            [&] {
              compare_providers<ConvolutionBackwardWeight>({y, x}, {e.options, kernel});
            },
        });
  }
}

/// Products of numbers in f32 with numbers in bf16, computed in bf16.
Comparisons mixed_comparisons(const Example& e, const Tensor& x, const Tensor& weight,
                              const Tensor& y) {
  constexpr DType kHalfType = DType::bf16;
  const Dims size = spatial_sizes(e.x), kernel = spatial_sizes(e.weight);
  return {
      [=] {
        compare_providers<Convolution>({half(x), weight, randn({e.weight[0]})},
                                       {e.options, kHalfType}, test::kHalf);
      },
      [=] {
        compare_providers<ConvolutionBackwardInput>({half(y), weight, Tensor()},
                                                    {e.options, size, kHalfType});
      },
      [=] {
        compare_providers<ConvolutionBackwardWeight>({half(y), x}, {e.options, kernel, kHalfType});
      },
  };
}

/// Results in bf16.
Comparisons half_comparisons(const Example& e, const Tensor& x, const Tensor& weight,
                             const Tensor& y) {
  constexpr DType kHalfType = DType::bf16;
  const Dims size = spatial_sizes(e.x), kernel = spatial_sizes(e.weight);
  return {
      [=] {
        compare_providers<ConvolutionBackwardInput>(
            {half(y), weight, Tensor()}, {e.options, size, kHalfType, kHalfType}, test::kHalf);
      },
      [=] {
        compare_providers<Convolution>({half(x), half(weight), half(randn({e.weight[0]}))},
                                       {e.options, kHalfType}, test::kHalf);
      },
      [=] {
        compare_providers<ConvolutionBackwardWeight>(
            {half(y), half(x)}, {e.options, kernel, kHalfType, kHalfType}, test::kHalf);
      },
  };
}

TEST(ConvolutionKernel, agrees_with_the_reference_in_bf16) {
  for (const Example& e : kExamples) {
    const Tensor x = randn(e.x), weight = small(e.weight), y = small(e.y());
    run_sampled(e, mixed_comparisons(e, x, weight, y));
    run_sampled(e, half_comparisons(e, x, weight, y));
  }
}

std::vector<float> values_of(const Tensor& x, std::int64_t first, std::int64_t count) {
  const std::vector<float> all = x.to_vector<float>();
  const auto width = static_cast<std::ptrdiff_t>(x.numel() / x.shape()[0]);
  return {all.begin() + first * width, all.begin() + (first + count) * width};
}

Tensor first_samples(const Tensor& x, std::int64_t count) {
  Shape shape = x.shape();
  shape[0] = count;
  const std::vector<float> values = values_of(x, 0, count);
  return from_values(std::span<const float>(values), shape);
}

TEST(ConvolutionKernel, a_sample_does_not_depend_on_their_number) {
  with_every_provider([] {
    for (const Example& e : kExamples) {
      const Tensor x = randn(e.x), weight = randn(e.weight), y = randn(e.y());
      for (const DType dtype : {DType::f32, DType::bf16}) {
        const auto forward = [&](const Tensor& some) {
          return call<Convolution>({some, weight, Tensor()}, {e.options, dtype});
        };
        const auto backward = [&](const Tensor& some) {
          return call<ConvolutionBackwardInput>({some, weight, Tensor()},
                                                {e.options, spatial_sizes(e.x), dtype});
        };
        const Tensor all_y = forward(x), all_x = backward(y);
        for (std::int64_t count = 1; count < e.x[0]; ++count) {
          EXPECT_EQ(forward(first_samples(x, count)).to_vector<float>(),
                    values_of(all_y, 0, count));
          EXPECT_EQ(backward(first_samples(y, count)).to_vector<float>(),
                    values_of(all_x, 0, count));
        }
      }
    }
  });
}

TEST(ConvolutionKernel, a_sample_does_not_depend_on_its_place) {
  with_every_provider([] {
    for (const Example& e : kExamples) {
      const Tensor one = randn(e.x), weight = randn(e.weight);
      Tensor x = empty(e.x);
      const std::vector<float> sample = values_of(one, 0, 1);
      for (std::int64_t n = 0; n < e.x[0]; ++n) {
        std::copy(sample.begin(), sample.end(),
                  x.data<float>() + n * static_cast<std::int64_t>(sample.size()));
      }
      const Tensor y = call<Convolution>({x, weight, Tensor()}, {e.options});
      for (std::int64_t n = 1; n < e.x[0]; ++n) {
        EXPECT_EQ(values_of(y, n, 1), values_of(y, 0, 1)) << n;
      }
    }
  });
}

/// The gradient of the example's weight over samples [first, first + count) in `cuts` parts.
std::vector<float> convolution_weight_gradient(const Example& e, DType compute, const Tensor& y,
                                               const Tensor& x, std::int64_t first,
                                               std::int64_t count, std::int64_t cuts,
                                               bool per_microbatch) {
  ConvolutionTask t;
  t.compute = compute;
  t.result = ConvolutionResult::weight;
  Shape some = e.x;
  some[0] = count;
  t.shape = convolution_geometry("example", some, e.weight, e.options);
  const std::int64_t weights = t.shape.weights();
  std::vector<float> sums(static_cast<std::size_t>(per_microbatch ? cuts * weights : weights));
  const auto at = [&](const Tensor& samples) {
    return ConvolutionArray{const_cast<char*>(reinterpret_cast<const char*>(
        samples.data<float>() + first * (samples.numel() / samples.shape()[0])))};
  };
  t.x = at(x), t.y = at(y);
  t.weight = {reinterpret_cast<char*>(sums.data())};
  t.cuts = cuts, t.per_microbatch = per_microbatch;
  convolve(t);
  return sums;
}

TEST(ConvolutionKernel, a_gradient_of_microbatches_is_the_tree_of_each_alone) {
  with_every_provider([] {
    for (Example e : kExamples) {
      e.x[0] = 4;
      const Tensor x = randn(e.x), y = randn(e.y());
      for (const DType compute : {DType::f32, DType::bf16}) {
        const auto whole = convolution_weight_gradient(e, compute, y, x, 0, 4, 2, false);
        const auto parts = convolution_weight_gradient(e, compute, y, x, 0, 4, 2, true);
        const auto left = convolution_weight_gradient(e, compute, y, x, 0, 2, 1, false);
        const auto right = convolution_weight_gradient(e, compute, y, x, 2, 2, 1, false);
        std::vector<float> both = left, tree = left;
        both.insert(both.end(), right.begin(), right.end());
        std::transform(left.begin(), left.end(), right.begin(), tree.begin(), std::plus<>());
        EXPECT_TRUE(test::same_bits(parts, both));
        EXPECT_TRUE(test::same_bits(whole, tree));
      }
    }
  });
}

/// The example's y and both gradients, one behind the other.
std::vector<float> results(const Example& e, DType compute, const Tensor& x, const Tensor& weight,
                           const Tensor& y) {
  std::vector<float> all;
  for (const Tensor& result :
       {call<Convolution>({x, weight, Tensor()}, {e.options, compute}),
        call<ConvolutionBackwardInput>({y, weight, Tensor()},
                                       {e.options, spatial_sizes(e.x), compute}),
        call<ConvolutionBackwardWeight>({y, x}, {e.options, spatial_sizes(e.weight), compute})}) {
    const std::vector<float> values = result.to_vector<float>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

TEST(ConvolutionKernel, same_bits_for_any_number_of_threads) {
  with_every_provider([] {
    for (const Example& e : kExamples) {
      const Tensor x = randn(e.x), weight = randn(e.weight), y = randn(e.y());
      for (const DType compute : {DType::f32, DType::bf16}) {
        std::vector<float> first;
        test::with_every_thread_count([&](int threads) {
          const std::vector<float> now = results(e, compute, x, weight, y);
          first = threads == 1 ? now : first;
          EXPECT_TRUE(test::same_bits(first, now)) << threads << " threads";
        });
      }
    }
  });
}

}  // namespace
}  // namespace tessera::cpu
