// Several backwards a pass, of plain means and of means over what counts in any order: the same
// bits on any number of ranks, also where ranks have unequal numbers of passes.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>

#include <tessera/core/base/clock.h>
#include <tessera/core/ops/cross_entropy.h>
#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/layers/linear.h>
#include <tessera/nn/optim/adamw.h>

#include "any_number_of_ranks.h"
#include "support/sizes.h"
#include "support/values_of.h"

namespace tessera::dist {
namespace {

using testing_support::Values;
using testing_support::values_of;

constexpr std::int64_t kClasses = 5;

void one(const Tensor& value, const Box&, const RandomStream&) {
  *value.data<float>() = 1;
}

struct BodyAndHead : nn::Module {
  nn::Child<nn::Linear> body{this, "body", kWidth, kWidth};
  nn::Child<nn::Linear> head{this, "head", kWidth, kClasses};
  nn::Parameter scale{this, "scale", {}, one};
};

/// Classes of which every `every`-th is ignored.
Tensor classes(std::int64_t every) {
  Tensor y = empty({kSamples}, {.dtype = DType::i64});
  for (std::int64_t i = 0; i < kSamples; ++i) {
    y.data<std::int64_t>()[i] = i % every == 1 ? -100 : i % kClasses;
  }
  return y;
}

/// p: a plain mean; c and d: means over what counts, of other elements; s: one, times a parameter.
Tensor loss(char kind, const BodyAndHead& model, const Tensor& x, const Tensor& c,
            const Tensor& d) {
  const Tensor h = model.body(x);
  switch (kind) {
    case 'p':
      return mean(h * h);
    case 'c':
      return cross_entropy(model.head(h), c);
    case 'd':
      return cross_entropy(model.head(h), d);
    default:
      return cross_entropy(model.head(h), c) * model.scale;
  }
}

Values train_with_losses(const std::string& kinds, std::int64_t at_once, const auto& wrap) {
  set_seed(11);
  const auto model = nn::make<BodyAndHead>();
  const Tensor x = randn({kSamples, kWidth});
  data::DataLoader loader(
      data::TensorDataset{x, classes(5), classes(3)},
      {.batch_size = 16, .shuffle = true, .workers = 0, .grain = kGrain, .at_once = at_once});
  [[maybe_unused]] const auto reducer = wrap(*model);
  optim::AdamW optimizer(model->parameters());
  for (auto& [batch, c, d] : loader) {
    for (const char kind : kinds) {
      loss(kind, *model, batch, c, d).backward();
    }
    optimizer.step();
  }
  return values_of(*model);
}

TEST(SeveralLosses, one_backward_each_have_the_bits_of_one_process) {
  constexpr std::array kinds{'p', 'c', 'd', 's'};
  for (const char first : kinds) {
    for (const char second : kinds) {
      for (const char* third : {"", "p", "d"}) {
        const std::string all = std::string{first, second} + third;
        SCOPED_TRACE(all);
        const auto loop = [&](std::int64_t at_once, const auto& wrap) {
          return train_with_losses(all, at_once, wrap);
        };
        expect_same_bits_on_ranks(loop, kGrain, {2, 3, 4});
      }
    }
  }
}

/// A rank that waits for what the others would say of a loss that they do not compute.
TEST(SeveralLosses, one_more_on_one_rank_is_noticed_at_once) {
  const auto extra = [](std::int64_t at_once, const auto& wrap) {
    const bool one_more = Context::current().rank == 1;
    return train_with_losses(one_more ? "ccc" : "cc", at_once, wrap);
  };
  const Time begin = clock().now();
  for (const int ranks : {2, 4}) {
    EXPECT_THROW(train_on_ranks(extra, kGrain, ranks, 0), Desync) << ranks << " ranks";
  }
  EXPECT_LT(clock().now() - begin, std::chrono::seconds(20));
}

}  // namespace
}  // namespace tessera::dist
