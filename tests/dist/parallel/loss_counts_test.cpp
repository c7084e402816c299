// Means whose denominator the data decide: over the global batch, with the same bits however it is
// shared out. The oracle is the formula on the whole batch in one piece, in f64.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include <tessera/core/base/context.h>
#include <tessera/core/base/philox.h>
#include <tessera/core/dispatch/autocast.h>
#include <tessera/core/ops/add.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/cross_entropy.h>
#include <tessera/core/ops/linear.h>
#include <tessera/core/ops/linear_cross_entropy.h>
#include <tessera/core/ops/log_softmax.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/permute.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/dist/comm/loopback.h>
#include <tessera/dist/parallel/data_parallel.h>
#include <tessera/dist/parallel/gradient_reducer.h>
#include <tessera/dist/reduce/global_mean.h>
#include <tessera/nn/loss/cross_entropy_loss.h>
#include <tessera/nn/loss/nll_loss.h>
#include <tessera/nn/loss/weighted_mean.h>
#include <tessera/nn/optim/sgd.h>

#include "support/sizes.h"

namespace tessera::dist {
namespace {

constexpr std::int64_t kBatch = 16, kTokens = 3, kInputs = 5, kClassesOfHead = 6;
constexpr std::int64_t kIgnored = -100;
constexpr double kLossScale = 128, kLr = 0.25, kMaxNorm = 0.05;

double number(std::uint64_t key, std::int64_t i) {
  return 2.0 * to_uniform(RandomStream{.key = key}.word(static_cast<std::uint64_t>(i))) - 1;
}

void fill(const Tensor& value, const Box&, const RandomStream& stream) {
  for (std::int64_t i = 0; i < value.numel(); ++i) {
    value.data<float>()[i] = to_uniform(stream.word(static_cast<std::uint64_t>(i))) - 0.5F;
  }
}

struct Head : nn::Module {
  nn::Parameter weight{this, "weight", {kClassesOfHead, kInputs}, fill};
  nn::Parameter bias{this, "bias", {kClassesOfHead}, fill};
};

/// Which tokens are padding.
using Padding = std::function<bool(std::int64_t sample, std::int64_t token)>;
bool random_padding(std::int64_t sample, std::int64_t token) {
  return number(5, sample * kTokens + token) < 0.2;
}
bool none(std::int64_t, std::int64_t) {
  return false;
}

struct Batch {
  Tensor x, y;
};

Batch batch(const Padding& padding, std::int64_t first, std::int64_t count, std::int32_t parts) {
  Batch b{empty({count, kTokens, kInputs}), empty({count, kTokens}, {.dtype = DType::i64})};
  for (std::int64_t i = 0; i < count * kTokens; ++i) {
    const std::int64_t at = first * kTokens + i;
    const bool padded = padding(at / kTokens, at % kTokens);
    b.y.data<std::int64_t>()[i] = padded ? kIgnored : at * at % kClassesOfHead;
    for (std::int64_t j = 0; j < kInputs; ++j) {
      b.x.data<float>()[i * kInputs + j] = static_cast<float>(number(9, at * kInputs + j));
    }
  }
  if (parts > 1) {
    b.y.get().set_microbatches({.count = parts, .dim = 0});
    b.x.get().set_microbatches(b.y.microbatches());
  }
  return b;
}

/// A loss as users write it, and its formula: -sum(w q log p) / sum(w).
struct Loss {
  const char* name;
  std::function<Tensor(const Head&, const Batch&)> of;
  bool class_weights = false;
  double smoothing = 0;
  double tolerance = 2e-6;
};

double weight_of(const Loss& loss, std::int64_t c) {
  return loss.class_weights ? 0.25 * static_cast<double>(c + 1) : 1;
}

Tensor class_weights() {
  return tensor<float>({0.25F, 0.5F, 0.75F, 1, 1.25F, 1.5F});
}

Tensor logits(const Head& head, const Batch& b) {
  return linear(b.x, head.weight.value(), head.bias.value());
}

std::vector<Loss> losses() {
  const auto entropy = [](const Head& head, const Batch& b) {
    return cross_entropy(logits(head, b), b.y);
  };
  return {
      {"cross_entropy", entropy},
      {"in bf16",
       [=](const Head& head, const Batch& b) {
         const AutocastScope bf16(DType::bf16);
         return entropy(head, b);
       },
       false, 0, 0.02},
      {"smoothing",
       [](const Head& head, const Batch& b) {
         return cross_entropy(logits(head, b), b.y, {.label_smoothing = 0.1});
       },
       false, 0.1},
      {"class weights, smoothing",
       [](const Head& head, const Batch& b) {
         return nn::cross_entropy_loss(
             logits(head, b), b.y,
             {.weight = class_weights(), .label_smoothing = 0.1, .class_dim = -1});
       },
       true, 0.1},
      {"nll",
       [](const Head& head, const Batch& b) {
         return nn::nll_loss(permute(log_softmax(logits(head, b), -1), {0, 2, 1}), b.y,
                             {.weight = class_weights()});
       },
       true},
      {"weighted_mean",
       [](const Head& head, const Batch& b) {
         const Tensor each =
             cross_entropy(logits(head, b), b.y, {.reduction = LossReduction::none});
         return nn::weighted_mean(each, ne(b.y, kIgnored));
       }},
      {"arithmetic",
       [=](const Head& head, const Batch& b) {
         const Tensor penalty = sum(head.weight.value() * head.weight.value());
         return (entropy(head, b) + penalty * 0.0) * 2 - entropy(head, b);
       }},
      {"fused head",
       [](const Head& head, const Batch& b) {
         return linear_cross_entropy(b.x, head.weight.value(), b.y) + sum(head.bias.value() * 0.0);
       }},
  };
}

/// Value and gradients (weight, then bias), by the formula.
struct Expected {
  double loss = 0;
  std::vector<double> gradient = std::vector<double>(kClassesOfHead * (kInputs + 1));
};

Expected oracle(const Loss& loss, const Padding& padding, const Head& head, bool with_bias) {
  const auto w = head.weight.value().to_vector<double>();
  const auto bias = head.bias.value().to_vector<double>();
  const Batch b = batch(padding, 0, kBatch, 1);
  const auto x = b.x.to_vector<double>();
  const auto y = b.y.to_vector<std::int64_t>();
  Expected e;
  double total = 0;
  for (std::size_t r = 0; r < y.size(); ++r) {
    if (y[r] == kIgnored) {
      continue;
    }
    std::vector<double> z(kClassesOfHead), q(kClassesOfHead);
    double sum = 0, mass = 0;
    for (std::size_t c = 0; c < kClassesOfHead; ++c) {
      z[c] = with_bias ? bias[c] : 0;
      for (std::size_t j = 0; j < kInputs; ++j) {
        z[c] += x[r * kInputs + j] * w[c * kInputs + j];
      }
      sum += std::exp(z[c]);
      const double share = loss.smoothing / kClassesOfHead +
                           (static_cast<std::int64_t>(c) == y[r] ? 1 - loss.smoothing : 0);
      mass += q[c] = share * weight_of(loss, static_cast<std::int64_t>(c));
    }
    total += weight_of(loss, y[r]);
    for (std::size_t c = 0; c < kClassesOfHead; ++c) {
      e.loss -= q[c] * (z[c] - std::log(sum));
      const double d = mass * std::exp(z[c]) / sum - q[c];
      for (std::size_t j = 0; j < kInputs; ++j) {
        e.gradient[c * kInputs + j] += d * x[r * kInputs + j];
      }
      e.gradient[kClassesOfHead * kInputs + c] += with_bias ? d : 0;
    }
  }
  const double denominator = total > 0 ? total : 1;
  e.loss /= denominator;
  for (double& g : e.gradient) {
    g /= denominator;
  }
  return e;
}

/// What one step gives.
struct Result {
  double loss = 0;
  std::vector<float> gradient, weights;
  bool skipped = false;
  friend bool operator==(const Result&, const Result&) = default;
};

std::vector<float> values(const Head& head, bool gradients) {
  std::vector<float> all;
  for (const nn::Parameter& p : head.parameters()) {
    const Tensor x = gradients ? p.grad() : p.value();
    const std::vector<float> own = x.to_vector<float>();
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

Result step(const nn::Ptr<Head>& head, const Loss& loss, const Padding& padding, Communicator& comm,
            std::int64_t at_once) {
  constexpr std::int64_t per = kBatch / kGrain;
  optim::SGD optimizer(head->parameters(), {.lr = kLr / kLossScale});
  optimizer.clip_grad_norm(kMaxNorm * kLossScale);
  GlobalMean mean;
  Result result;
  const auto blocks = ReductionTree::over_grain(kGrain, comm.size()).of_rank(comm.rank());
  for (const TreeLeaf& block : blocks) {
    const std::int64_t count = std::min(at_once, block.size);
    for (std::int64_t m = block.first; m < block.first + block.size; m += count) {
      Context::current().pass = {.grain = kGrain,
                                 .first = m,
                                 .count = count,
                                 .first_sample = m * per,
                                 .samples = count * per,
                                 .last = m + count == blocks.back().first + blocks.back().size};
      const Tensor value =
          loss.of(*head, batch(padding, m * per, count * per, static_cast<std::int32_t>(count)));
      (value * kLossScale).backward();
      mean.add(value);
      if (Context::current().pass.last) {
        result.gradient = values(*head, true);
      }
      const optim::StepResult done = optimizer.step();
      result.skipped = result.skipped || done.skipped;
    }
  }
  result.loss = mean.take(comm);
  result.weights = values(*head, false);
  Context::current().pass = {};
  return result;
}

Result on_ranks(const Loss& loss, const Padding& padding, int ranks, std::int64_t at_once,
                bool parallel = true) {
  Result of_last_rank;
  run_ranks(ranks, [&](Communicator& comm) {
    set_seed(3);
    Context::current().step = 1;
    const auto head = nn::make<Head>();
    const std::shared_ptr<Communicator> borrowed(&comm, [](Communicator*) {});
    std::shared_ptr<GradientReducer> reducer;
    if (parallel) {
      reducer = data_parallel(*head, borrowed, {.grain = kGrain});
    }
    const Result result = step(head, loss, padding, comm, at_once);
    if (comm.rank() == ranks - 1) {
      of_last_rank = result;
    }
  });
  return of_last_rank;
}

void expect_formula(const Loss& loss, const Padding& padding, const Result& result) {
  set_seed(3);
  const auto head = nn::make<Head>();
  const Expected e = oracle(loss, padding, *head, std::string_view(loss.name) != "fused head");
  EXPECT_NEAR(result.loss, e.loss, loss.tolerance * (1 + std::abs(e.loss)));
  double norm = 0;
  for (std::size_t i = 0; i < e.gradient.size(); ++i) {
    EXPECT_NEAR(result.gradient[i] / kLossScale, e.gradient[i], loss.tolerance) << i;
    norm += e.gradient[i] * e.gradient[i];
  }
  const double clip = std::min(1.0, kMaxNorm / (std::sqrt(norm) + 1e-6));
  const std::vector<float> before = values(*head, false);
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_NEAR(result.weights[i], before[i] - kLr * clip * e.gradient[i], 2 * loss.tolerance) << i;
  }
}

void expect_same_everywhere(const Loss& loss, const Padding& padding) {
  SCOPED_TRACE(loss.name);
  const Result expected = on_ranks(loss, padding, 1, kGrain, false);
  expect_formula(loss, padding, expected);
  for (const std::int64_t at_once : {1, 2, 4}) {
    EXPECT_EQ(on_ranks(loss, padding, 1, at_once, false), expected) << at_once << " at once, alone";
  }
  for (const auto& [ranks, at_once] : {std::pair{1, 2}, {2, 8}, {2, 1}, {3, 2}, {4, 8}, {4, 1}}) {
    EXPECT_EQ(on_ranks(loss, padding, ranks, at_once), expected)
        << ranks << " ranks, " << at_once << " at once";
  }
}

TEST(LossCounts, random_padding_gives_the_mean_over_what_counts_on_any_layout) {
  for (const Loss& loss : losses()) {
    expect_same_everywhere(loss, random_padding);
  }
}

TEST(LossCounts, a_microbatch_or_a_rank_without_a_counted_element_adds_nothing) {
  for (const Loss& loss : losses()) {
    expect_same_everywhere(loss, [](std::int64_t sample, std::int64_t token) {
      return sample / 2 == 2 || random_padding(sample, token);
    });
    expect_same_everywhere(loss, [](std::int64_t sample, std::int64_t token) {
      return sample < 8 || random_padding(sample, token);
    });
  }
}

TEST(LossCounts, a_batch_without_a_counted_element_is_skipped) {
  for (const Loss& loss : losses()) {
    const Padding all = [](std::int64_t, std::int64_t) { return true; };
    expect_same_everywhere(loss, all);
    EXPECT_TRUE(on_ranks(loss, all, 2, 2).skipped) << loss.name;
    EXPECT_FALSE(on_ranks(loss, random_padding, 2, 2).skipped) << loss.name;
  }
}

TEST(LossCounts, where_everything_counts_bits_are_those_of_a_plain_mean) {
  const Loss counted = losses()[0];
  const Loss plain{"plain", [](const Head& head, const Batch& b) {
                     return call_all<CrossEntropy>({logits(head, b), b.y}, {})[0];
                   }};
  expect_same_everywhere(counted, none);
  EXPECT_EQ(on_ranks(counted, none, 1, kGrain, false), on_ranks(plain, none, 1, kGrain, false));
  EXPECT_EQ(on_ranks(counted, none, 4, 1), on_ranks(plain, none, 2, 2));
}

TEST(LossCounts, losses_that_count_different_elements_do_not_share_a_backward) {
  const auto head = nn::make<Head>();
  Context::current().pass = {.grain = 2, .count = 2, .samples = kBatch};
  const Batch padded = batch(random_padding, 0, kBatch, 2);
  const Batch whole = batch(none, 0, kBatch, 2);
  const Tensor a = cross_entropy(logits(*head, padded), padded.y);
  const Tensor b = nn::nll_loss(permute(log_softmax(logits(*head, whole), -1), {0, 2, 1}), whole.y);
  try {
    (a + b).backward();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const InvalidArgument& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("cross_entropy and nll_loss"), std::string::npos) << text;
  }
  a.backward();
  b.backward();  // one by one they are exact
  Context::current().pass = {};
}

}  // namespace
}  // namespace tessera::dist
