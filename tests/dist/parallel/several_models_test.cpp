// Two data parallel models in one loop: the same bits on any number of ranks, also where ranks have
// unequal numbers of passes.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include <tessera/core/ops/mean.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/tanh.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/data/data_loader.h>
#include <tessera/nn/data/tensor_dataset.h>
#include <tessera/nn/layers/linear.h>

#include "any_number_of_ranks.h"
#include "loops_of_a_pair.h"

namespace tessera::dist {
namespace {

struct Plain : nn::Module {
  nn::Child<nn::Linear> first{this, "first", kWidth, 6};
  nn::Child<nn::Linear> second{this, "second", 6, kWidth};
  [[nodiscard]] Tensor forward(const Tensor& x) const { return second(tanh(first(x))); }
};

using PlainPair = PairOf<Plain>;

/// What the loop's body does with a batch.
const std::map<std::string, std::function<void(PlainPair&, const Tensor&)>> kPlainBodies = {
    {"one after the other",
     [](PlainPair& p, const Tensor& x) {
       square(p.a(x)).backward();
       p.of_a.step();
       square(p.b(x) - x).backward();
       p.of_b.step();
     }},
    {"steps at the end",
     [](PlainPair& p, const Tensor& x) {
       square(p.a(x)).backward();
       square(p.b(x) - x).backward();
       p.of_b.step();
       p.of_a.step();
     }},
    {"one loss",
     [](PlainPair& p, const Tensor& x) {
       square(p.a(p.b(x))).backward();
       p.of_a.step();
       p.of_b.step();
     }},
    {"adversaries",
     [](PlainPair& p, const Tensor& x) {
       const Tensor made = p.b(x);
       mean(p.a(made)).backward();
       p.of_a.zero_grad();
       p.of_b.step();
       (square(p.a(x)) - mean(p.a(made.detach()))).backward();
       p.of_a.step();
     }},
    {"adversaries, one frozen in turn",
     [](PlainPair& p, const Tensor& x) {
       const Tensor made = p.b(x);
       p.a->requires_grad_(false);
       mean(p.a(made)).backward();
       p.of_b.step();
       p.a->requires_grad_(true);
       (square(p.a(x)) - mean(p.a(made.detach()))).backward();
       p.of_a.step();
     }},
};

Values train_plain(const auto& body, std::int64_t at_once, const auto& wrap) {
  set_seed(7);
  PlainPair pair;
  data::DataLoader loader(
      data::TensorDataset{randn({kSamples, kWidth})},
      {.batch_size = 16, .shuffle = true, .workers = 0, .grain = kGrain, .at_once = at_once});
  [[maybe_unused]] const auto of_a = wrap(*pair.a);
  [[maybe_unused]] const auto of_b = wrap(*pair.b);
  for (auto& [x] : loader) {
    body(pair, x);
  }
  Values values;
  for (const auto& model : {pair.a, pair.b}) {
    for (const nn::Parameter& parameter : model->parameters()) {
      values.push_back(parameter.value().to_vector<float>());
    }
  }
  return values;
}

TEST(SeveralModels, have_the_bits_of_one_process) {
  for (const auto& [name, body] : kPlainBodies) {
    SCOPED_TRACE(name);
    const auto loop = [&body = body](std::int64_t at_once, const auto& wrap) {
      return train_plain(body, at_once, wrap);
    };
    expect_same_bits_on_ranks(loop, kGrain, {2, 3, 4});
  }
}

TEST(SeveralModels, may_not_share_a_parameter) {
  const auto train = [](std::int64_t at_once, const auto& wrap) {
    PlainPair pair;
    pair.b->second->weight.tie(pair.a->second->weight);
    [[maybe_unused]] const auto of_a = wrap(*pair.a);
    [[maybe_unused]] const auto of_b = wrap(*pair.b);
    return at_once;
  };
  try {
    train_on_ranks(train, kGrain, 2, 0);
    FAIL() << "no error";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("is shared with another model"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tessera::dist
