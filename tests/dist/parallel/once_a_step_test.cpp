// What happens once a training step and not once a pass: the bits of one process on any number of
// ranks, or an error.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <tessera/core/autograd/hooks.h>
#include <tessera/core/base/log.h>
#include <tessera/core/ops/abs.h>

#include "any_number_of_ranks.h"
#include "classifying.h"
#include "support/error_of.h"

namespace tessera::dist {
namespace {

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

}  // namespace
}  // namespace tessera::dist
