// What happens once a training step and not once a pass: the bits of one process on any number of
// ranks, or an error.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/core/autograd/engine.h>
#include <tessera/core/autograd/hooks.h>
#include <tessera/core/base/context.h>
#include <tessera/core/base/elements_of_run.h>
#include <tessera/core/base/log.h>
#include <tessera/core/ops/abs.h>
#include <tessera/core/ops/cast.h>
#include <tessera/core/ops/comparison.h>
#include <tessera/core/ops/cross_entropy.h>
#include <tessera/core/ops/slice.h>
#include <tessera/core/ops/sub.h>
#include <tessera/core/ops/sum.h>
#include <tessera/core/ops/transpose.h>
#include <tessera/nn/loss/weighted_mean.h>
#include <tessera/nn/optim/sgd.h>

#include "any_number_of_ranks.h"
#include "loops_of_a_pair.h"
#include "support/error_of.h"

namespace tessera::dist {
namespace {

constexpr std::int64_t kOneBatch = 16;
constexpr std::int64_t kAllRows = 56;  // the last batch is half of one
constexpr std::int64_t kKinds = 3;

/// A classifier that follows the means of its inputs, and adds a number that others may set.
struct Classifier : nn::Module {
  nn::Child<nn::Linear> layer{this, "layer", kWidth, kKinds};
  nn::Buffer seen{this, "seen", zeros({kWidth})};
  nn::Buffer heat{this, "heat", zeros({kWidth})};
  [[nodiscard]] Tensor forward(const Tensor& x) const {
    seen.assign(seen.value() * 0.5 + mean(x, {0}) * 0.5);
    return layer(x + heat.value());
  }
};

/// What the body of a loop works with.
struct Classifying {
  nn::Ptr<Classifier> model = nn::make<Classifier>();
  optim::SGD optimizer{model->parameters(), {.lr = 0.1}};
  std::int64_t count = 0;  ///< of the program's own
};

using BodyOfLoop = std::function<void(Classifying&, const Tensor& x, const Tensor& y)>;
using PrepareModel = std::function<void(Classifying&)>;

Values values_of_training(const Classifying& t) {
  Values values = values_of(*t.model);
  values.push_back(t.model->seen.value().to_vector<float>());
  values.push_back(t.model->heat.value().to_vector<float>());
  return values;
}

Tensor rows_of_all() {
  set_seed(7);
  return randn({kAllRows, kWidth}) + 0.5;
}

Tensor kinds_of(const Tensor& x) {
  return cast(x.detach() > 0.8, DType::i64);
}

template <class Wrap>
Values train_once(const BodyOfLoop& body, std::int64_t at_once, const Wrap& wrap,
                  const PrepareModel& prepare = {}) {
  const auto run = std::make_shared<Context>(Context::current());
  run->elements = std::make_shared<ElementsOfRun>();  // as in a process of its own
  const ContextScope scope(run);
  const Tensor x = rows_of_all();
  const Tensor y = cast(mean(x, {1}) > 0.5, DType::i64);
  Classifying t;
  data::DataLoader loader(
      data::TensorDataset{x, y},
      {.batch_size = kOneBatch, .workers = 0, .grain = kGrain, .at_once = at_once});
  [[maybe_unused]] const auto handle = wrap(*t.model);
  if (prepare) {
    prepare(t);
  }
  for (auto& [rows, classes] : loader) {
    body(t, rows, classes);
  }
  return values_of_training(t);
}

auto training_with(const BodyOfLoop& body, const PrepareModel& prepare = {}) {
  return [=](std::int64_t at_once, const auto& wrap) {
    return train_once(body, at_once, wrap, prepare);
  };
}

const auto kByItself = [](nn::Module&) { return 0; };

void classify_once(Classifying& t, const Tensor& x, const Tensor& y) {
  cross_entropy(t.model(x), y).backward();
  t.optimizer.step();
}

/// The running mean over all batches, in doubles.
void expect_all_seen(const Values& values) {
  std::vector<float> seen(kWidth);
  const std::vector<float> x = rows_of_all().to_vector<float>();
  for (std::int64_t first = 0; first < kAllRows; first += kOneBatch) {
    const std::int64_t rows = std::min(kOneBatch, kAllRows - first);
    for (std::int64_t j = 0; j < kWidth; ++j) {
      double sum = 0;
      for (std::int64_t i = 0; i < rows; ++i) {
        sum += x[static_cast<std::size_t>((first + i) * kWidth + j)];
      }
      float& own = seen[static_cast<std::size_t>(j)];
      own = static_cast<float>(own * 0.5 + sum / static_cast<double>(rows) * 0.5);
    }
  }
  for (std::size_t j = 0; j < seen.size(); ++j) {
    EXPECT_NEAR(values[values.size() - 2][j], seen[j], 1e-6) << j;
  }
}

/// Batches whose gradients are added up move the buffers, as those that make a step of their own.
TEST(OnceAStep, buffers_follow_batches_whose_gradients_are_accumulated) {
  const auto train = training_with([](Classifying& t, const Tensor& x, const Tensor& y) {
    cross_entropy(t.model(x), y).backward();
    if (Context::current().step % 2 == 0) {
      t.optimizer.step();
    }
  });
  expect_same_bits_on_ranks(train, kGrain, {2, 3, 4});
  expect_all_seen(train(0, kByItself));
}

/// The first loader that moves on ends the step, and the other one moved last before.
TEST(OnceAStep, buffers_follow_batches_of_two_loaders_in_one_step) {
  const auto train = [](std::int64_t at_once, const auto& wrap) {
    const Tensor x = rows_of_all();
    Classifying t;
    const data::LoaderOptions options{
        .batch_size = kOneBatch, .workers = 0, .grain = kGrain, .at_once = at_once};
    data::DataLoader first(data::TensorDataset{x}, options);
    data::DataLoader second(data::TensorDataset{kinds_of(mean(x, {1}))}, options);
    [[maybe_unused]] const auto handle = wrap(*t.model);
    auto rows = first.begin();
    for (auto kinds = second.begin(); rows != first.end(); ++rows, ++kinds) {
      cross_entropy(t.model(std::get<0>(*rows)), std::get<0>(*kinds)).backward();
      if (Context::current().step % 2 == 0) {
        t.optimizer.step();
      }
    }
    return values_of_training(t);
  };
  expect_same_bits_on_ranks(train, kGrain, {2, 3, 4});
  expect_all_seen(train(0, kByItself));
}

TEST(OnceAStep, a_hook_on_a_parameter_assigns_and_reads_buffers_of_the_step) {
  const auto train = training_with(classify_once, [](Classifying& t) {
    register_gradient_hook(t.model->layer->weight.value(), [&t](const Tensor& g) {
      t.model->heat.assign(mean(abs(g), {0}));
      return g + t.model->seen.value() * 0.25;
    });
  });
  expect_same_bits_on_ranks(train, kGrain, {2, 3, 4});
}

TEST(OnceAStep, a_hook_assigns_no_buffer_that_the_forward_assigns) {
  const auto train = training_with(classify_once, [](Classifying& t) {
    register_gradient_hook(t.model->layer->weight.value(), [&t](const Tensor& g) {
      t.model->seen.assign(mean(abs(g), {0}));
      return Tensor();
    });
  });
  const std::string error = testing_support::error_of([&] { return train(0, kByItself); });
  EXPECT_NE(error.find("in a buffer of its own"), std::string::npos) << error;
}

TEST(OnceAStep, a_buffer_is_assigned_in_all_passes_or_in_none) {
  for (const bool in_last : {true, false}) {
    const auto train = training_with([in_last](Classifying& t, const Tensor& x, const Tensor& y) {
      cross_entropy(t.model(x), y).backward();
      const Pass& pass = Context::current().pass;
      if (in_last ? pass.last : pass.first == 0) {
        t.model->heat.assign(t.model->heat.value() + 0.125);
      }
      t.optimizer.step();
    });
    expect_same_bits_or_refusal(train, kGrain, {2, 3, 4},
                                "assigned in some passes of a training step and not in the others");
  }
}

auto training_every(std::int64_t bodies) {
  return training_with([bodies](Classifying& t, const Tensor& x, const Tensor& y) {
    cross_entropy(t.model(x), y).backward();
    if (++t.count % bodies == 0) {
      t.optimizer.step();
      t.optimizer.zero_grad();
    }
  });
}

/// Where it comes to last passes alone it might be a program that asks for them: the log says so.
TEST(OnceAStep, a_count_of_passes_decides_no_step) {
  const std::string error =
      testing_support::error_of([] { return training_every(2)(2, kByItself); });
  EXPECT_NE(error.find("in some passes of a training step and not in the others"),
            std::string::npos)
      << error;
  std::vector<std::string> lines;
  const LogSinkScope sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  static_cast<void>(train_on_ranks(training_every(4), kGrain, 1, 2));
  const auto says = [](const std::string& line) {
    return line.find("step() is called in the last pass of training steps alone") !=
           std::string::npos;
  };
  EXPECT_EQ(std::ranges::count_if(lines, says), 1);
}

/// In the last step nothing follows in which ranks would find out.
TEST(OnceAStep, what_ranks_assign_unlike_behind_the_last_step_is_noticed) {
  const auto train = training_with([](Classifying& t, const Tensor& x, const Tensor& y) {
    cross_entropy(t.model(x), y).backward();
    if (t.optimizer.step().ended && Context::current().step * kOneBatch >= kAllRows) {
      t.model->heat.assign(full({kWidth}, mean(x).item()));
    }
  });
  const std::string error =
      testing_support::error_of([&] { return train_on_ranks(train, kGrain, 2, 0); });
  EXPECT_NE(error.find("value assigned to heat"), std::string::npos) << error;
}

using LossOfOutputs = std::function<Tensor(const Tensor& z, const Tensor& y)>;

const std::map<std::string, LossOfOutputs> kLossesOfOutputs = {
    {"mean", [](const Tensor& z, const Tensor&) { return square(z); }},
    {"all count", [](const Tensor& z, const Tensor& y) { return cross_entropy(z, y); }},
    {"some count",
     [](const Tensor& z, const Tensor& y) { return cross_entropy(z, y, {.ignore_index = 1}); }}};

TEST(OnceAStep, a_loss_that_is_no_mean_over_samples_is_said_to_be_none) {
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

TEST(OnceAStep, a_given_seed_multiplies_the_loss_s_weight) {
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

TEST(OnceAStep, a_given_gradient_of_parameters_alone_counts_once) {
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

TEST(OnceAStep, a_constant_batch_s_loss_stands_beside_the_samples) {
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

TEST(OnceAStep, hooks_on_outputs_see_the_short_last_batch_s_gradient) {
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

TEST(OnceAStep, inputs_of_a_frozen_model_have_one_gradient_on_any_number_of_ranks) {
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
