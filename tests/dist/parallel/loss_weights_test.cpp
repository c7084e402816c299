// What losses weigh in a training step: given seeds and gradients, constant batches, short batches;
// and what the log says of those that are no means.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/autograd/hooks.h>
#include <tessera/core/base/log.h>
#include <tessera/core/ops/expand.h>
#include <tessera/core/ops/mul.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/core/tensor/factories.h>
#include <tessera/nn/loss/cross_entropy_loss.h>
#include <tessera/nn/loss/weighted_mean.h>

#include "any_number_of_ranks.h"
#include "classifying.h"
#include "support/error_of.h"

namespace tessera::dist {
namespace {

using LossOfOutputs = std::function<Tensor(const Tensor& z, const Tensor& y)>;

const std::map<std::string, LossOfOutputs> kLossesOfOutputs = {
    {"mean", [](const Tensor& z, const Tensor&) { return square(z); }},
    {"all count", [](const Tensor& z, const Tensor& y) { return cross_entropy(z, y); }},
    {"some count",
     [](const Tensor& z, const Tensor& y) { return cross_entropy(z, y, {.ignore_index = 1}); }}};

TEST(LossWeights, a_loss_that_is_no_mean_over_samples_is_said_to_be_none) {
  const std::map<std::string, LossOfOutputs> losses = {
      {"", [](const Tensor& z, const Tensor& y) { return cross_entropy(z, y) + 0.5 * square(z); }},
      {"the loss is a sum over samples", [](const Tensor& z, const Tensor&) { return sum(z * z); }},
      {"the loss is no mean over samples",
       [](const Tensor& z, const Tensor&) { return square(z) * square(z); }}};
  for (const auto& [expected, loss] : losses) {
    std::vector<std::string> lines;
    const LogSinkScope sink([&](LogLevel level, std::string_view line) {
      if (level == LogLevel::warning) {
        lines.emplace_back(line);
      }
    });
    const auto train =
        training_with([&loss = loss](Classifying& t, const Tensor& x, const Tensor& y) {
          loss(t.model(x), y).backward();
          t.optimizer.step();
        });
    static_cast<void>(train_on_ranks(train, kGrain, 2, 0));
    ASSERT_EQ(lines.size(), expected.empty() ? 0U : 1U) << (lines.empty() ? expected : lines[0]);
    EXPECT_TRUE(expected.empty() || lines[0].find(expected) != std::string::npos) << lines[0];
  }
}

/// A loss, and the same with weights or classes that are made of the samples.
using WrittenTwice = std::array<LossOfOutputs, 2>;

nn::CrossEntropyLossOptions weighted_classes() {
  return {.weight = tensor({0.5F, 2.0F, 1.0F})};
}

const std::map<std::string, WrittenTwice> kMadeBySize = {
    {"weights of columns",
     {[](const Tensor& z, const Tensor&) {
        return nn::weighted_mean(z * z, expand(tensor({1.0F, 2.0F, 3.0F}), z.shape()));
      },
      [](const Tensor& z, const Tensor&) {
        return nn::weighted_mean(z * z, tensor({1.0F, 2.0F, 3.0F}) * ones_like(z));
      }}},
    {"a mask by places",
     {[](const Tensor& z, const Tensor&) {
        return nn::weighted_mean(z * z, ones(z.shape()) * tensor({1.0F, 0.0F, 1.0F}));
      },
      [](const Tensor& z, const Tensor&) {
        return nn::weighted_mean(z * z, ones_like(z) * tensor({1.0F, 0.0F, 1.0F}));
      }}},
    {"one class, with class weights",
     {[](const Tensor& z, const Tensor&) {
        return nn::cross_entropy_loss(z, ones({z.size(0)}, {.dtype = DType::i64}),
                                      weighted_classes());
      },
      [](const Tensor& z, const Tensor& y) {
        return nn::cross_entropy_loss(z, ones_like(y), weighted_classes());
      }}}};

TEST(LossWeights, weights_and_classes_made_by_sizes_are_the_samples_own) {
  for (const auto& [name, losses] : kMadeBySize) {
    SCOPED_TRACE(name);
    const auto train_by = [](const LossOfOutputs& loss) {
      return training_with([&loss](Classifying& t, const Tensor& x, const Tensor& y) {
        loss(t.model(x), y).backward();
        t.optimizer.step();
      });
    };
    expect_same_bits_on_ranks(train_by(losses[0]), kGrain, {2, 3, 4});
    EXPECT_EQ(train_by(losses[0])(0, kByItself), train_by(losses[1])(0, kByItself));
  }
}

TEST(LossWeights, a_given_seed_multiplies_the_loss_s_weight) {
  for (const auto& [name, loss] : kLossesOfOutputs) {
    SCOPED_TRACE(name);
    const auto given =
        training_with([&loss = loss](Classifying& t, const Tensor& x, const Tensor& y) {
          loss(t.model(x), y).backward(full({}, 2.5));
          t.optimizer.step();
        });
    const auto times =
        training_with([&loss = loss](Classifying& t, const Tensor& x, const Tensor& y) {
          (loss(t.model(x), y) * 2.5).backward();
          t.optimizer.step();
        });
    expect_same_bits_on_ranks(given, kGrain, {2, 3, 4});
    EXPECT_EQ(given(0, kByItself), times(0, kByItself));
  }
}

TEST(LossWeights, a_given_gradient_of_parameters_alone_counts_once) {
  const Tensor g = full({kWidth, kKinds}, 0.25), two = full({kKinds}, 2);
  const auto given = training_with([&](Classifying& t, const Tensor& x, const Tensor& y) {
    const Tensor twice = transpose(t.model->layer->weight.value(), 0, 1) * two;
    cross_entropy(t.model(x), y).backward();
    twice.backward(g);
    t.optimizer.step();
  });
  expect_same_bits_on_ranks(given, kGrain, {2, 3, 4});
  const auto added = training_with([&](Classifying& t, const Tensor& x, const Tensor& y) {
    const Tensor twice = transpose(t.model->layer->weight.value(), 0, 1) * two;
    (cross_entropy(t.model(x), y) + sum(g * twice)).backward();
    t.optimizer.step();
  });
  const auto beside = training_with([&](Classifying& t, const Tensor& x, const Tensor& y) {
    const Tensor twice = transpose(t.model->layer->weight.value(), 0, 1) * two;
    backward(std::array{cross_entropy(t.model(x), y), twice}, std::array{Tensor(), g});
  });
  const std::string error = testing_support::error_of([&] { return beside(0, kByItself); });
  EXPECT_NE(error.find("call backward on each"), std::string::npos) << error;
  const Values a = given(0, kByItself), b = added(0, kByItself);
  for (std::size_t j = 0; j < a[0].size(); ++j) {
    EXPECT_NEAR(a[0][j], b[0][j], 1e-5) << j;
  }
}

TEST(LossWeights, a_constant_batch_s_loss_stands_beside_the_samples) {
  const Tensor x = rows_of_all();
  const Tensor y = kinds_of(mean(x, {1}));
  for (const auto& [name, loss] : kLossesOfOutputs) {
    SCOPED_TRACE(name);
    const auto train =
        training_with([&, &loss = loss](Classifying& t, const Tensor& rows, const Tensor& classes) {
          const Tensor kept = loss(t.model->layer(slice(x, 0, 0, 6)), slice(y, 0, 0, 6));
          (cross_entropy(t.model(rows), classes) + 0.25 * kept).backward();
          t.optimizer.step();
        });
    const auto beside_plain =
        training_with([&, &loss = loss](Classifying& t, const Tensor& rows, const Tensor&) {
          const Tensor kept = loss(t.model->layer(slice(x, 0, 0, 6)), slice(y, 0, 0, 6));
          (square(t.model(rows)) + 0.25 * kept).backward();
          t.optimizer.step();
        });
    if (name != "some count") {
      expect_same_bits_on_ranks(train, kGrain, {2, 3, 4});
      expect_same_bits_on_ranks(beside_plain, kGrain, {2, 3, 4, 8});
      continue;
    }
    for (const std::int64_t at_once : {0, 1}) {
      for (const auto& refused :
           {std::function<Values()>([&] { return train(at_once, kByItself); }),
            std::function<Values()>([&] { return beside_plain(at_once, kByItself); })}) {
        const std::string error = testing_support::error_of(refused);
        EXPECT_NE(error.find("count different elements"), std::string::npos) << error;
      }
    }
  }
}

/// The gradients of the outputs, batch by batch, as hooks on them see them.
std::vector<std::vector<float>> seen_by_hooks(std::int64_t grain) {
  const Tensor x = rows_of_all();
  const nn::Ptr<nn::Linear> layer = nn::make<nn::Linear>(kWidth, kKinds);
  data::DataLoader loader(data::TensorDataset{x, kinds_of(mean(x, {1}))},
                          {.batch_size = kOneBatch, .workers = 0, .grain = grain});
  std::vector<std::vector<float>> seen;
  for (auto& [rows, classes] : loader) {
    const Tensor z = layer(rows);
    register_gradient_hook(z, [&](const Tensor& g) {
      seen.push_back(g.to_vector<float>());
      return Tensor();
    });
    cross_entropy(z, classes).backward();
  }
  return seen;
}

TEST(LossWeights, hooks_on_outputs_see_the_short_last_batch_s_gradient) {
  const auto cut = seen_by_hooks(kGrain), whole = seen_by_hooks(1);
  ASSERT_EQ(cut.size(), whole.size());
  for (std::size_t batch = 0; batch < cut.size(); ++batch) {
    for (std::size_t i = 0; i < whole[batch].size(); ++i) {
      EXPECT_NEAR(cut[batch][i], whole[batch][i], 1e-7) << batch << ", " << i;
    }
  }
}

/// The gradient that a frozen model gives its inputs, of the last batch's last rows.
auto slope_of_inputs(std::int64_t ignored) {
  return [ignored](std::int64_t at_once, const auto& wrap) {
    std::vector<float> slope;
    static_cast<void>(train_once(
        [&](Classifying& t, const Tensor& x, const Tensor& y) {
          Tensor inputs = x.detach();
          inputs.set_requires_grad(true);
          cross_entropy(t.model->layer(inputs), y, {.ignore_index = ignored}).backward();
          const std::vector<float> all = inputs.grad().template to_vector<float>();
          slope.assign(all.end() - kWidth, all.end());
        },
        at_once, wrap, [](Classifying& t) { t.model->requires_grad_(false); }));
    return slope;
  };
}

TEST(LossWeights, inputs_of_a_frozen_model_have_one_gradient_on_any_number_of_ranks) {
  const auto all = slope_of_inputs(-100);
  for (const int ranks : {2, 4}) {
    EXPECT_EQ(train_on_ranks(all, kGrain, ranks, 0), all(0, kByItself)) << ranks;
  }
  const auto some = slope_of_inputs(1);
  const std::string error =
      testing_support::error_of([&] { return train_on_ranks(some, kGrain, 2, 0); });
  EXPECT_NE(error.find("counts a part of its elements"), std::string::npos) << error;
}

}  // namespace
}  // namespace tessera::dist
