// What a loop leaves: a batch that is used behind it, and what is counted over its passes.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/core/base/log.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/argmax.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/clamp.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/cross_entropy.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/ops/flip.h>
#include <tessera/core/ops/index.h>
#include <tessera/core/ops/linear.h>
#include <tessera/core/ops/matmul.h>
#include <tessera/core/ops/max.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/min.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/neg.h>
#include <tessera/core/ops/norm.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/select.h>
#include <tessera/core/ops/sqrt.h>
#include <tessera/core/ops/stack.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/core/ops/var.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/loss/kl_div_loss.h>
#include <tessera/nn/loss/weighted_mean.h>

#include "support/error_of.h"
#include "support/sizes.h"

namespace tessera::dist {
namespace {

using Floats = std::vector<float>;
using OfRows = std::function<Tensor(const Tensor& x)>;

/// The gradient of a layer's weight by `loss` of the first batch, behind its loop.
template <class Loss>
Floats gradient_behind_loop(std::int64_t grain, const Loss& loss) {
  set_seed(7);
  const auto model = nn::make<nn::Linear>(kWidth, 3);
  data::DataLoader loader(
      data::TensorDataset{randn({16, kWidth}), cast(randn({16}) > 0.3, DType::i64)},
      {.batch_size = 16, .workers = 0, .grain = grain});
  Tensor x, y;
  for (auto& [batch, classes] : loader) {
    x = batch;
    y = classes;
  }
  loss(model(x), y).backward();
  return model->weight.value().grad().to_vector<float>();
}

template <class Loss>
void expect_batch_of_its_own(const Loss& loss) {
  const Floats cut = gradient_behind_loop(8, loss), whole = gradient_behind_loop(1, loss);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_NEAR(cut[i], whole[i], 1e-6) << i;
  }
}

TEST(BehindLoops, a_batch_is_one_of_its_own) {
  expect_batch_of_its_own([](const Tensor& z, const Tensor& y) { return cross_entropy(z, y); });
  expect_batch_of_its_own(
      [](const Tensor& z, const Tensor& y) { return cross_entropy(z, y, {.ignore_index = 1}); });
  expect_batch_of_its_own([](const Tensor& z, const Tensor&) { return mean(z * z) * 3.0; });
}

TEST(BehindLoops, a_batch_has_no_gradient_of_what_is_none_of_its_own) {
  for (const auto& loss : {OfRows([](const Tensor& z) { return norm(z); }),
                           OfRows([](const Tensor& z) { return sum(z * z) + 1.0; }),
                           OfRows([](const Tensor& z) { return max(z); })}) {
    const std::string error = testing_support::error_of([&] {
      return gradient_behind_loop(8, [&](const Tensor& z, const Tensor&) { return loss(z); });
    });
    EXPECT_NE(error.find("is no mean or sum over samples"), std::string::npos) << error;
  }
}

/// Right answers and errors as PyTorch's tutorials count them, pass by pass.
TEST(BehindLoops, sums_over_samples_add_up_over_passes) {
  set_seed(7);
  const Tensor x = randn({48, kWidth}), y = cast(randn({48}) > 0.3, DType::i64);
  const auto model = nn::make<nn::Linear>(kWidth, 3);
  const Tensor right = eq(argmax(model(x), 1), y);
  const Tensor far = model(x) - 1.0;
  for (const std::int64_t at_once : {0, 1, 2}) {
    data::DataLoader loader(data::TensorDataset{x, y},
                            {.batch_size = 16, .workers = 0, .grain = 8, .at_once = at_once});
    double found = 0, wrong = 0, squares = 0;
    std::int64_t exact = 0;
    for (auto& [a, b] : loader) {
      const Tensor hits = eq(argmax(model(a), 1), b);
      found += sum(cast(hits, DType::f32)).item();
      exact += sum(hits).item<std::int64_t>();
      wrong += (-(sum(cast(hits, DType::f32)) - sum(ones_like(cast(b, DType::f32))))).item();
      const Tensor d = model(a) - 1.0;
      squares += reshape(0.5 * sum(sum(d * d, {0})) / 2.0, {1}).detach().item();
    }
    EXPECT_EQ(found, sum(cast(right, DType::f32)).item()) << at_once;
    EXPECT_EQ(exact, sum(right).item<std::int64_t>()) << at_once;
    EXPECT_EQ(wrong, 48 - found) << at_once;
    EXPECT_NEAR(squares, sum(far * far).item() / 4, 1e-4) << at_once;
  }
}

/// What `f` of the rows of one batch gives, in one piece and in a pass of 8 microbatches.
struct Numbers {
  double whole = 0, cut = 0;
  std::string error = "no error";
};

Numbers numbers_of_batch(const OfRows& f) {
  set_seed(7);
  const Tensor rows = randn({16, kWidth});
  Numbers numbers{.whole = f(rows).item()};
  data::DataLoader loader(data::TensorDataset{rows}, {.batch_size = 16, .workers = 0, .grain = 8});
  for (auto& [x] : loader) {
    numbers.error = testing_support::error_of([&, &x = x] { return numbers.cut = f(x).item(); });
  }
  return numbers;
}

const std::map<std::string, OfRows> kOfBatch = {
    {"sum", [](const Tensor& x) { return sum(x); }},
    {"mean", [](const Tensor& x) { return mean(x); }},
    {"largest", [](const Tensor& x) { return max(x); }},
    {"least", [](const Tensor& x) { return min(x); }},
    {"sum, added in place",
     [](const Tensor& x) {
       const Tensor n = sum(x);
       const Tensor t = n + 0.0 * n;
       return add_(t, n);
     }},
    {"mean of sums", [](const Tensor& x) { return mean(sum(x, {0})); }},
    {"one of sums", [](const Tensor& x) { return select(sum(x, {0}, true), 1, 2); }},
    {"one of two sums",
     [](const Tensor& x) {
       return select(stack({sum(x), sum(x * x)}, 0), 0, 1);
     }},
    {"sums times a weight",
     [](const Tensor& x) {
       return sum(matmul(sum(x, {0}, true), ones({kWidth, 2})));
     }},
    {"sums that were flipped",
     [](const Tensor& x) { return select(flip(sum(x, {0}), {0}), 0, 0); }},
    {"products over samples",
     [](const Tensor& x) { return select(select(matmul(x, x, true, false), 0, 1), 0, 1); }},
    {"sum of a number of bools", [](const Tensor& x) { return sum(x > 0.0); }},
    {"batchmean of kl_div",
     [](const Tensor& x) {
       return nn::kl_div(x, full_like(x, 0.25), {.reduction = nn::KLDivReduction::batchmean});
     }},
    {"batchmean of kl_div over what is not the samples",
     [](const Tensor& x) {
       const Tensor z = transpose(x, 0, 1);
       return nn::kl_div(z, full_like(z, 0.25), {.reduction = nn::KLDivReduction::batchmean});
     }},
    {"products over samples by linear",
     [](const Tensor& x) {
       const Tensor z = transpose(x, 0, 1);
       return select(select(linear(z, z), 0, 1), 0, 1);
     }},
    {"what is like a sum", [](const Tensor& x) { return ones_like(sum(x)) + mean(x); }},
    {"a mean less a number", [](const Tensor& x) { return 1.0 - 2.0 * mean(x) / 3.0; }},
    {"a mean less its mean", [](const Tensor& x) { return mean(2.0 * (x - mean(x, {0}, true))); }},
    {"a mean that was written to",
     [](const Tensor& x) {
       const Tensor t = clone(mean(x, {0}));
       select(t, 0, 1).copy_(mean(x * x));
       return sum(t);
     }},
    {"sum, reshaped", [](const Tensor& x) { return reshape(-sum(x), {1}); }}};

const std::map<std::string, OfRows> kOfNoBatch = {
    {"a sum and a number", [](const Tensor& x) { return zeros({}) + sum(x); }},
    {"a ratio of sums", [](const Tensor& x) { return sum(x * x) / sum(x); }},
    {"a sum and a mean", [](const Tensor& x) { return sum(x) + mean(x); }},
    {"the root of a sum", [](const Tensor& x) { return sqrt(sum(x * x)); }},
    {"a norm", [](const Tensor& x) { return norm(x); }},
    {"a variance", [](const Tensor& x) { return var(x); }},
    {"minus the largest", [](const Tensor& x) { return -max(x); }},
    {"the root of a mean", [](const Tensor& x) { return sqrt(mean(x * x)); }},
    {"a product of means", [](const Tensor& x) { return mean(x * x) - mean(x) * mean(x); }},
    {"a mean of what is less its mean",
     [](const Tensor& x) {
       const Tensor d = x - mean(x, {0}, true);
       return mean(d * d);
     }},
    {"a mean as a bool", [](const Tensor& x) { return mean(x) > 0.0; }},
    {"the largest of means", [](const Tensor& x) { return max(mean(x, {0})); }},
    {"a place", [](const Tensor& x) { return argmax(x); }},
    {"a place of a mean", [](const Tensor& x) { return argmax(mean(x, {0})); }},
    {"a number among sums",
     [](const Tensor& x) {
       Tensor t = sum(x, {0});
       assign(t, {1}, 5.0);
       return select(t, 0, 1);
     }},
    {"sums of which one was written to",
     [](const Tensor& x) {
       const Tensor t = sum(x, {0});
       const Tensor part = select(t, 0, 1);
       clamp_(part, 0.0, 1.0);
       return sum(t);
     }},
    {"a sum of integers as a bool",
     [](const Tensor& x) { return cast(sum(cast(x > 0.0, DType::i64)), DType::boolean); }},
    {"a sum as a bool", [](const Tensor& x) { return cast(sum(x), DType::boolean); }},
    {"samples by a sum", [](const Tensor& x) { return mean(x / sum(x * x)); }}};

TEST(BehindLoops, an_item_is_the_batch_s_or_refused) {
  for (const auto& [name, f] : kOfBatch) {
    const Numbers numbers = numbers_of_batch(f);
    EXPECT_NEAR(numbers.cut, numbers.whole, 1e-5) << name << ": " << numbers.error;
  }
  for (const auto& [name, f] : kOfNoBatch) {
    EXPECT_NE(numbers_of_batch(f).error.find("item: got 8 numbers"), std::string::npos) << name;
  }
}

TEST(BesideLoops, a_loader_in_the_same_order_is_said) {
  std::vector<std::string> lines;
  const LogSinkScope sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  const auto walk = [](std::uint64_t seed) {
    const data::TensorDataset rows{arange(0, 8, 1, {.dtype = DType::f32})};
    data::DataLoader first(rows, {.batch_size = 8, .shuffle = true, .workers = 0, .seed = 3});
    data::DataLoader second(rows, {.batch_size = 8, .shuffle = true, .workers = 0, .seed = seed});
    for (auto& [x] : first) {
      for (auto& [y] : second) {
        EXPECT_EQ(x.to_vector<float>() == y.to_vector<float>(), seed == 3);
        break;
      }
    }
  };
  walk(4);
  EXPECT_TRUE(lines.empty());
  walk(3);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("in the same order as the loader around it"), std::string::npos);
}

}  // namespace
}  // namespace tessera::dist
