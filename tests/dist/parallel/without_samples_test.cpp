// What a body computes of parameters alone, or of what exists once a microbatch, beside its
// samples; and parameters of another dtype than what they meet. The bits of one process on any
// number of ranks.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/dispatch/autocast.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/channel_dropout.h>
#include <tessera/core/ops/div.h>
#include <tessera/core/ops/expand.h>
#include <tessera/core/ops/group_norm.h>
#include <tessera/core/ops/layer_norm.h>
#include <tessera/core/ops/linear.h>
#include <tessera/core/ops/maximum.h>
#include <tessera/core/ops/reshape.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/core/ops/unsqueeze.h>
#include <tessera/nn/init/uniform.h>
#include <tessera/nn/layers/conv.h>
#include <tessera/nn/layers/rotary_embedding.h>
#include <tessera/nn/optim/sgd.h>

#include "any_number_of_ranks.h"
#include "loops_of_a_pair.h"
#include "support/error_of.h"

namespace tessera::dist {
namespace {

/// A layer beside parameters of several shapes.
struct Parts : nn::Module {
  nn::Child<nn::Linear> layer{this, "layer", kWidth, kWidth};
  nn::Child<nn::Conv1d> filter{this, "filter", 1, 1, 3};
  nn::Parameter rows{this, "rows", {6, kWidth}, nn::init::uniform(-1, 1)};
  nn::Parameter row{this, "row", {kWidth}, nn::init::uniform(-1, 1)};
  nn::Parameter number{this, "number", {}, nn::init::uniform(0.5, 1)};
};

Tensor slope(const Tensor& y, const Tensor& x) {
  return grad(std::span(&y, 1), std::span(&x, 1))[0];
}

using Loss = std::function<Tensor(const Parts&, const Tensor& x)>;

template <class Wrap>
Values train_parts(const Loss& loss, std::int64_t at_once, const Wrap& wrap) {
  set_seed(7);
  const auto model = nn::make<Parts>();
  data::DataLoader loader(data::TensorDataset{randn({kSamples, kWidth})},
                          {.batch_size = 16, .grain = kGrain, .at_once = at_once});
  [[maybe_unused]] const auto handle = wrap(*model);
  optim::SGD optimizer(model->parameters(), {.lr = 0.1});
  for (auto& [x] : loader) {
    loss(*model, x).backward();
    optimizer.step();
  }
  return values_of(*model);
}

const std::map<std::string, Loss> kLossesOfParts = {
    {"a penalty on rows that are moved",
     [](const Parts& m, const Tensor& x) {
       return square(m.layer(x)) + square(m.rows.value() + m.row.value());
     }},
    {"rows through the layer, for the samples",
     [](const Parts& m, const Tensor& x) { return square(x * sum(m.layer(m.rows.value()), {0})); }},
    {"a constant through the layer, beside the samples",
     [](const Parts& m, const Tensor& x) {
       return square(x * m.row.value()) + square(m.layer(ones({3, kWidth})));
     }},
    {"a norm of rows",
     [](const Parts& m, const Tensor& x) {
       return square(x) + square(layer_norm(m.rows.value(), m.row.value(), {}) - 0.5);
     }},
    {"a convolution of a learned constant",
     [](const Parts& m, const Tensor& x) {
       const Tensor seen = m.filter(reshape(m.rows.value(), {1, 1, 6 * kWidth}));
       return square(m.layer(x) * mean(seen));
     }},
    {"a number that becomes many",
     [](const Parts& m, const Tensor& x) {
       return square(m.layer(x)) + square(expand(m.number.value(), {3, 4}) - 2.0);
     }},
    {"the gradient of a mean that was computed apart",
     [](const Parts& m, const Tensor& x) {
       Tensor apart = mean(x, {0}).detach();
       apart.set_requires_grad(true);
       return square(m.layer(x) * slope(sum(tanh(apart)), apart));
     }},
    {"the gradient of what was centred apart",
     [](const Parts& m, const Tensor& x) {
       Tensor apart = (x - mean(x, {0})).detach();
       apart.set_requires_grad(true);
       return square(m.layer(x) * slope(sum(tanh(apart * m.row.value().detach())), apart));
     }},
    {"a number of f32 in a bf16 product",
     [](const Parts& m, const Tensor& x) {
       const AutocastScope scope(DType::bf16);
       return square(m.number.value() * m.layer(x));
     }},
    {"a number of f32 taken from a bf16 product",
     [](const Parts& m, const Tensor& x) {
       const AutocastScope scope(DType::bf16);
       return square(m.layer(x) - m.number.value());
     }},
    {"a number of f32 beside a bf16 product of parameters",
     [](const Parts& m, const Tensor& x) {
       const AutocastScope scope(DType::bf16);
       return square(x) +
              square(m.number.value() - linear(m.rows.value(), m.layer->weight.value()));
     }},
    {"a bf16 loss beside a penalty of f32",
     [](const Parts& m, const Tensor& x) {
       const AutocastScope scope(DType::bf16);
       const Tensor loss = mean(m.layer(x)) + 0.01 * square(m.rows.value());
       return loss * loss;
     }},
    {"f32 beside f64", [](const Parts& m, const Tensor& x) {
       const Tensor wide = cast(x, DType::f64);
       return square(m.number.value() * wide + m.row.value()) +
              square(maximum(m.row.value(), wide));
     }}};

TEST(WithoutSamples, on_any_number_of_ranks) {
  for (const auto& [name, loss] : kLossesOfParts) {
    SCOPED_TRACE(name);
    const auto train = [&loss = loss](std::int64_t at_once, const auto& wrap) {
      return train_parts(loss, at_once, wrap);
    };
    expect_same_bits_on_ranks(train, kGrain, {2, 3, 4});
  }
}

/// PyTorch's usual loss of an autoencoder: a sum over all, by the size of the batch.
TEST(WithoutSamples, a_sum_is_not_divided_by_the_samples_of_a_pass) {
  const Loss loss = [](const Parts& m, const Tensor& x) {
    const Tensor y = m.layer(x);
    return sum(y * y) / static_cast<double>(x.size(0));
  };
  const auto alone = [](nn::Module&) { return 0; };
  const Values expected = train_parts(loss, 1, alone);
  EXPECT_EQ(expected, train_parts(
                          [](const Parts& m, const Tensor& x) {
                            const Tensor y = m.layer(x);
                            return mean(sum(y * y, {1}));
                          },
                          0, alone));
  const std::string error = testing_support::error_of([&] { return train_parts(loss, 0, alone); });
  EXPECT_NE(error.find("div: what exists once a microbatch is divided by 16"), std::string::npos)
      << error;
}

TEST(WithoutSamples, a_sum_is_not_divided_by_the_elements_of_a_pass) {
  const std::map<std::string, std::function<Tensor(const Tensor&)>> means = {
      {"64", [](const Tensor& y) { return sum(y * y) / y.numel(); }},
      {"64.0", [](const Tensor& y) { return sum(y * y) / static_cast<double>(y.numel()); }},
      {"32", [](const Tensor& y) { return sum(y * y) / (2.0 * static_cast<double>(y.size(0))); }}};
  for (const auto& [divisor, mean_of] : means) {
    const Loss loss = [&mean_of = mean_of](const Parts& m, const Tensor& x) {
      return mean_of(m.layer(x));
    };
    const std::string error = testing_support::error_of(
        [&] { return train_parts(loss, 0, [](nn::Module&) { return 0; }); });
    EXPECT_NE(error.find("divided by " + divisor.substr(0, 2) +
                         ", a multiple of the 16 samples of its pass"),
              std::string::npos)
        << error;
  }
}

/// Samples that lie where an op counts or groups.
TEST(WithoutSamples, what_mixes_them_by_their_place_is_refused) {
  const nn::Ptr<nn::RotaryEmbedding> rotary = nn::make<nn::RotaryEmbedding>(4);
  const std::map<std::string, std::function<Tensor(const Tensor&)>> mixing = {
      {"group_norm", [](const Tensor& x) { return group_norm(transpose(x, 0, 1), 4, {}, {}); }},
      {"RotaryEmbedding", [&](const Tensor& x) { return rotary(x); }},
      {"channel_dropout", [](const Tensor& x) {
         return channel_dropout(unsqueeze(unsqueeze(x * mean(x, {0}), 0), 0), 0.4);
       }}};
  for (const auto& [name, f] : mixing) {
    data::DataLoader loader(data::TensorDataset{randn({16, kWidth})},
                            {.batch_size = 16, .grain = 8, .at_once = 2});
    for (auto& [x] : loader) {
      const std::string error = testing_support::error_of([&, &f = f, &x = x] { return f(x); });
      EXPECT_NE(error.find("mixes samples"), std::string::npos) << name << ": " << error;
      break;
    }
  }
}

/// Accumulates over two batches, by a count of its own.
TEST(Accumulation, by_a_count_of_passes_is_refused) {
  const auto train = [](bool own, std::int64_t at_once) {
    set_seed(7);
    const auto model = nn::make<Parts>();
    data::DataLoader loader(data::TensorDataset{randn({kSamples * 2, kWidth})},
                            {.batch_size = 16, .grain = kGrain, .at_once = at_once});
    optim::SGD optimizer(model->parameters(), {.lr = 0.1});
    std::uint64_t passes = 0;
    for (auto& [x] : loader) {
      square(model->layer(x)).backward();
      ++passes;
      if ((own ? passes : Context::current().step) % 2 == 0) {
        optimizer.step();
      }
    }
    return values_of(*model);
  };
  const Values expected = train(true, 0);
  for (const std::int64_t at_once : {1, 2}) {
    EXPECT_EQ(train(false, at_once), expected) << at_once;
    const std::string error = testing_support::error_of([&] { return train(true, at_once); });
    EXPECT_NE(error.find("step() is called in some passes of a training step"), std::string::npos)
        << error;
  }
}

}  // namespace
}  // namespace tessera::dist
